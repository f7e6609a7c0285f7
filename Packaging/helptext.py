"""The command's own help texts, for Packaging/manual and Packaging/reference."""
import json, re, subprocess


def root(program):
    return json.loads(subprocess.check_output([program, "--experimental-dump-help"]))["command"]


def names(argument):
    dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}
    return [dashes[one["kind"]] + one["name"] for one in argument.get("names", [])]


def arguments(command):
    shown = (one for one in command.get("arguments", []) if one["shouldDisplay"])
    return [one for one in shown if names(one)[-1:] not in (["--help"], ["--version"])]


def children(command):
    return [one for one in command.get("subcommands", []) if one["shouldDisplay"] and one["commandName"] != "help"]


def paragraphs(text):
    """Each paragraph of a discussion: its prose, and its lines of commands or with indentation, which stay lines."""
    for part in re.split(r"\n\n+", text.strip()):
        lines = part.split("\n")
        head = [line for line in lines if not re.match(r"\s{2}|feed ", line)]
        yield " ".join(head), [line.strip() for line in lines if line not in head]
