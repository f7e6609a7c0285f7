"""Draws landscapes, as PNG."""

import colorsys
import functools
import math
import random
import struct
import zlib

SKY = 120
KINDS = 36
# As cameras, telephones and painters have them.
SIZES = [(720, 480), (480, 640), (960, 400), (560, 560), (480, 720), (800, 450)]
# A comic and a panorama, which no tile is like.
COMIC, PANORAMA = (320, 1200), (1600, 300)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@functools.cache
def landscape(kind, size=None):
    """Hills under a sky, some of them before a sun."""
    dice = random.Random(kind)
    width, height = size or SIZES[kind % len(SIZES)]
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


def moving():
    """A GIF of two frames: red, and blue."""
    head = b"GIF89a" + struct.pack("<HHBBB", 64, 48, 0x80, 0, 0) + bytes([220, 60, 40, 40, 80, 220])

    def frame(color):
        # Each code of 3 bits is a pixel; a clear code before the table would need more bits.
        codes = []
        for place in range(64 * 48):
            if place % 2 == 0:
                codes.append(4)
            codes.append(color)
        codes.append(5)
        bits = "".join(f"{code:03b}"[::-1] for code in codes)
        bits += "0" * (-len(bits) % 8)
        data = bytes(int(bits[place:place + 8][::-1], 2) for place in range(0, len(bits), 8))
        blocks = b"".join(bytes([len(data[at:at + 255])]) + data[at:at + 255] for at in range(0, len(data), 255))
        control = b"\x21\xf9\x04\x00\x32\x00\x00\x00"
        return control + b"\x2c" + struct.pack("<HHHHB", 0, 0, 64, 48, 0) + b"\x02" + blocks + b"\x00"

    return head + b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00" + frame(0) + frame(1) + b";"
