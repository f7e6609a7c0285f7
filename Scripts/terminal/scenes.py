"""Draws landscapes: layers of hills under a sky, with a sun or a moon, water, trees, mist or a city. Needs Pillow."""

import io
import random

from PIL import Image, ImageDraw, ImageFilter

WIDTH, HEIGHT = 1200, 800
# What it is called, where it is, the sky below and above, the hills far and near, and what else there is.
SCENES = [
    ("Morning over the valley", "Tegernsee", (250, 196, 140), (88, 120, 190), (70, 90, 130), (18, 40, 48), "sun"),
    ("Harbour at dusk", "Lisboa", (255, 140, 90), (60, 40, 110), (90, 50, 110), (20, 14, 40), "city"),
    ("First snow on the ridge", "Zermatt", (225, 235, 245), (120, 160, 210), (235, 240, 248), (90, 110, 140), "snow"),
    ("Birches by the lake", "Inari", (250, 220, 170), (130, 180, 190), (90, 140, 110), (30, 60, 40), "trees"),
    ("The desert after rain", "Merzouga", (255, 205, 150), (90, 150, 210), (225, 140, 80), (120, 60, 40), "sun"),
    ("Full moon on the fjord", "Geiranger", (70, 90, 140), (8, 14, 40), (30, 44, 80), (6, 10, 24), "moon"),
    ("Tea fields in the mist", "Yunnan", (235, 240, 230), (190, 210, 215), (120, 170, 110), (40, 90, 50), "mist"),
    ("Night train, seen from the bridge", "Brno", (40, 30, 70), (10, 8, 30), (30, 24, 50), (8, 6, 18), "city"),
    ("Cliffs in the afternoon", "Moher", (235, 235, 225), (100, 165, 220), (90, 130, 80), (40, 66, 44), "sea"),
    ("The last light", "Oaxaca de Juárez", (255, 120, 60), (120, 40, 90), (110, 40, 70), (30, 10, 30), "sun"),
]


def between(a, b, part):
    return tuple(int(x + (y - x) * part) for x, y in zip(a, b))


def ridge(dice, roughness):
    """Heights of a hill, by halving the middle again and again."""
    heights, reach = [dice.uniform(-1, 1), dice.uniform(-1, 1)], 1.0
    while len(heights) < 129:
        finer = []
        for a, b in zip(heights, heights[1:]):
            finer += [a, (a + b) / 2 + dice.uniform(-reach, reach)]
        heights, reach = [*finer, heights[-1]], reach * roughness
    return heights


class Scene:
    def __init__(self, number):
        self.dice = random.Random(number + 7)
        self.number = number
        self.name, self.place, self.low, self.high, self.far, self.near, self.kind = SCENES[number % len(SCENES)]
        self.image = Image.new("RGB", (WIDTH, HEIGHT))
        self.horizon = int(HEIGHT * self.dice.uniform(0.5, 0.62))
        self.light = self.dice.randint(200, 1000), self.dice.randint(150, self.horizon - 60), self.dice.randint(40, 70)

    @property
    def brush(self):
        return ImageDraw.Draw(self.image)

    def circle(self, radius):
        x, y, _ = self.light
        return [x - radius, y - radius, x + radius, y + radius]

    def sky(self):
        for y in range(HEIGHT):
            self.brush.line([(0, y), (WIDTH, y)], fill=between(self.high, self.low, min(1, (y / self.horizon) ** 1.3)))
        if self.kind in ("sun", "sea", "trees", "moon"):
            glow = Image.new("L", (WIDTH, HEIGHT))
            ImageDraw.Draw(glow).ellipse(self.circle(self.light[2] * 3), fill=60 if self.kind == "moon" else 110)
            self.image.paste((255, 244, 220), (0, 0, WIDTH, HEIGHT), glow.filter(ImageFilter.GaussianBlur(70)))
            self.brush.ellipse(
                self.circle(self.light[2]), fill=(235, 238, 245) if self.kind == "moon" else (255, 246, 225))
        if self.kind in ("moon", "city"):
            for _ in range(260):
                x, y, light = self.dice.randint(0, WIDTH), self.dice.randint(0, self.horizon), self.dice.randint(90, 230)
                self.brush.point([(x, y), (x + 1, y)], fill=(light,) * 3)

    def hills(self):
        for layer in range(5):
            part = layer / 4
            base = self.horizon - 40 + layer * (HEIGHT - self.horizon) / 5
            heights = ridge(self.dice, 0.68 if self.kind == "snow" else 0.55)
            top = [(i * WIDTH / 128, base + one * 54 * (1 - part / 2)) for i, one in enumerate(heights)]
            color = between(between(self.far, self.low, 0.45), self.near, part)
            if self.kind == "mist":
                color = between(color, self.low, 0.5 * (1 - part))
            self.brush.polygon([*top, (WIDTH, HEIGHT), (0, HEIGHT)], fill=color)
            if self.kind == "snow":
                self.brush.line(top, fill=(250, 252, 255), width=7)
            if self.kind == "trees" and layer >= 2:
                self.trees(top)
            if self.kind == "city" and layer == 3:
                self.city()

    def trees(self, ground):
        for _ in range(40):
            (x, y), height = self.dice.choice(ground), self.dice.randint(40, 120)
            color = between(self.near, (10, 30, 20), self.dice.random())
            self.brush.polygon([(x, y - height), (x - height // 5, y + 8), (x + height // 5, y + 8)], fill=color)

    def city(self):
        x = 0
        while x < WIDTH:
            width, height = self.dice.randint(30, 80), self.dice.randint(80, 330)
            self.brush.rectangle([x, HEIGHT - 180 - height, x + width, HEIGHT], fill=between(self.near, (0, 0, 0), 0.3))
            for top in range(HEIGHT - 170 - height, HEIGHT - 100, 16):
                for left in range(x + 6, x + width - 8, 12):
                    if self.dice.random() < 0.4:
                        color = (255, self.dice.randint(190, 230), 120)
                        self.brush.rectangle([left, top, left + 5, top + 8], fill=color)
            x += width + self.dice.randint(2, 12)

    def water(self):
        if self.kind not in ("sea", "moon"):
            return
        shore = int(HEIGHT * 0.72)
        for y in range(shore, HEIGHT):
            color = between(between(self.low, self.high, 0.5), self.near, (y - shore) / (HEIGHT - shore))
            self.brush.line([(0, y), (WIDTH, y)], fill=color)
        for _ in range(500):
            y = self.dice.randint(shore, HEIGHT - 1)
            x, length = int(self.dice.gauss(self.light[0], 40 + y - shore)), self.dice.randint(6, 30)
            self.brush.line([(x, y), (x + length, y)], fill=between(self.low, (255, 255, 255), 0.4), width=2)

    def drawn(self):
        """Its bytes: JPEG, PNG or WebP, some of them upright."""
        self.sky()
        self.hills()
        self.water()
        image = self.image.filter(ImageFilter.GaussianBlur(0.6))
        if self.number % 4 == 1:
            image = image.crop((200, 0, 840, 800))
        form = ["JPEG", "JPEG", "PNG", "WEBP"][self.number % 4]
        if form == "PNG":
            image = image.resize((600, 400))
        target = io.BytesIO()
        image.save(target, form, quality=88)
        return target.getvalue()
