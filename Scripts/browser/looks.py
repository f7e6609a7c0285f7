"""Small copies of screenshots. Later screenshots are compared with them; a visible difference fails the test."""

import base64
import os

# Each is stored at a fifth of its size: there, the edges of letters and the exact place of a line are no longer seen.
PART = 5
# The most that a fifth of a fifth may differ, on average over its colors from 0 to 255, and how many of them may differ more.
MOST, SHARE = 24, 0.01

# Draws one or two images in a page of its own, where no policy forbids it.
SMALLER = """async ([data, part]) => {
    const image = new Image();
    image.src = data;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [Math.round(image.width / part), Math.round(image.height / part)];
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/png");
}"""
COMPARED = """async ([one, other]) => {
    const read = async (data) => {
        const image = new Image();
        image.src = data;
        await image.decode();
        const canvas = document.createElement("canvas");
        // Blocks of five by five, each the mean of what is in it.
        [canvas.width, canvas.height] = [Math.ceil(image.width / 5), Math.ceil(image.height / 5)];
        const context = canvas.getContext("2d");
        context.imageSmoothingQuality = "high";
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        return { size: [image.width, image.height], pixels: context.getImageData(0, 0, canvas.width, canvas.height).data };
    };
    const [here, there] = [await read(one), await read(other)];
    const differences = [];
    if (String(here.size) === String(there.size))
        for (let place = 0; place < here.pixels.length; place += 4)
            differences.push([0, 1, 2].reduce((sum, color) => sum + Math.abs(here.pixels[place + color] - there.pixels[place + color]), 0) / 3);
    return { sizes: [here.size, there.size], differences };
}"""


def inline(screenshot):
    return "data:image/png;base64," + base64.b64encode(screenshot).decode()


class Looks:
    """The stored copies, in a folder; `renews` replaces them instead of comparing."""

    def __init__(self, browser, folder, renews):
        self.page = browser.new_context().new_page()
        self.folder = folder
        self.renews = renews
        self.compared = 0

    def compare(self, name, screenshot):
        """The difference in words; nothing where the screenshot looks as before."""
        small = self.page.evaluate(SMALLER, [inline(screenshot), PART])
        path = f"{self.folder}/{name}.png"
        if self.renews:
            with open(path, "wb") as file:
                file.write(base64.b64decode(small.split(",")[1]))
            return None
        if not os.path.exists(path):
            return f"{name} isn't stored: run Scripts/test-browser --images"
        with open(path, "rb") as file:
            found = self.page.evaluate(COMPARED, [small, inline(file.read())])
        self.compared += 1
        if found["sizes"][0] != found["sizes"][1]:
            return f"{name} has the size {found['sizes'][0]}, but its stored copy has {found['sizes'][1]}"
        share = sum(1 for one in found["differences"] if one > MOST) / len(found["differences"])
        worst = max(found["differences"])
        print(f"   {name} differs in {share:.2%} of its blocks, by {worst:.0f} at most", flush=True)
        return f"{name} differs visibly from its stored copy in {share:.1%} of its blocks" if share > SHARE else None
