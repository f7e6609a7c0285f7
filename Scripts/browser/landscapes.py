"""Draws landscapes, as PNG."""

import colorsys
import functools
import math
import random
import struct
import zlib

SKY = 120
KINDS = 36


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@functools.cache
def landscape(kind):
    """Hills under a sky, some of them before a sun."""
    dice = random.Random(kind)
    width, height = [(480, 360), (480, 320), (360, 480)][kind % 3]
    hue = dice.random()
    warmth = dice.uniform(-0.12, 0.12)

    def color(hue, light, strength):
        return bytes(int(255 * part) for part in colorsys.hls_to_rgb(hue % 1, light, strength))

    palette = b"".join(color(hue + warmth * y / SKY, 0.5 + 0.38 * y / SKY, 0.6) for y in range(SKY))
    palette += color(hue + 0.45, 0.93, 0.9)
    hills = []
    for layer in range(4):
        palette += color(hue + 0.5 + 0.04 * layer, 0.52 - 0.12 * layer, 0.3)
        base = height * (0.45 + 0.14 * layer)
        waves = [
            (dice.uniform(0.4, 1) * height / (9 * n), dice.uniform(0.6, 1.4) * n * 3 / width, dice.uniform(0, 6))
            for n in (1, 2, 4, 8)
        ]
        hills.append([base - sum(a * math.sin(f * x + p) for a, f, p in waves) for x in range(width)])
    sun = (dice.uniform(0.2, 0.8) * width, dice.uniform(0.15, 0.35) * height, dice.uniform(0.05, 0.09) * width)

    rows = []
    for y in range(height):
        sky = min(SKY - 1, y * SKY // (height * 7 // 10))
        row = bytearray([sky]) * width
        reach = sun[2] ** 2 - (y - sun[1]) ** 2
        if reach > 0:
            left, right = int(sun[0] - reach**0.5), int(sun[0] + reach**0.5)
            row[left:right] = bytes([SKY]) * (right - left)
        for layer, tops in enumerate(hills):
            if y > max(tops):
                row = bytearray([SKY + 1 + layer]) * width
            elif y > min(tops):
                for x in range(width):
                    if y > tops[x]:
                        row[x] = SKY + 1 + layer
        rows.append(b"\0" + bytes(row))
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    data = zlib.compress(b"".join(rows), 6)
    parts = [(b"IHDR", header), (b"PLTE", palette), (b"IDAT", data), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, data) for kind, data in parts)
