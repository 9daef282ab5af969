/** Finds the mirrors of Debian that a machine uses, in the two formats of apt's sources. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** One source of packages. */
interface Source {
  readonly uris: readonly string[];
  readonly suites: readonly string[];
  readonly components: readonly string[];
  /** Files with the keys that sign it. */
  readonly keyrings: readonly string[];
}

/** An archive, and files with keys that sign it in addition to Debian's. */
export interface Mirror {
  readonly url: string;
  readonly keyrings: readonly string[];
}

export interface Mirrors {
  readonly main: Mirror;
  readonly security: Mirror;
}

const official: Mirrors = {
  main: { url: "http://deb.debian.org/debian", keyrings: [] },
  security: { url: "http://deb.debian.org/debian-security", keyrings: [] },
};

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== "");
const filesOf = (text: string): string[] => wordsOf(text).filter((word) => word.startsWith("/"));

/** `deb [signed-by=/file] http://host/debian suite component…` */
function parseLine(line: string): Source | null {
  const [, options = "", uri, rest = ""] = /^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+([^#]+)/.exec(line.trim()) ?? [];
  if (uri === undefined) return null;
  const [suite = "", ...components] = wordsOf(rest);
  const keyrings = filesOf(/signed-by=(\S+)/i.exec(options)?.[1] ?? "");
  return { uris: [uri], suites: [suite], components, keyrings };
}

/** A paragraph with a field in each line. */
function parseParagraph(paragraph: string): Source | null {
  const lines = paragraph.split("\n").filter((line) => !line.startsWith("#"));
  const fields = new Map<string, string>();
  let name = "";
  for (const line of lines) {
    const [, field, value = ""] = /^([\w-]+):(.*)$/.exec(line) ?? [];
    name = field?.toLowerCase() ?? name;
    fields.set(name, field === undefined ? `${fields.get(name) ?? ""} ${line}` : value);
  }
  const get = (field: string) => fields.get(field) ?? "";
  if (!wordsOf(get("types")).includes("deb") || /^\s*(no|false|0)\s*$/i.test(get("enabled"))) return null;
  const [uris, suites, components] = [wordsOf(get("uris")), wordsOf(get("suites")), wordsOf(get("components"))];
  return { uris, suites, components, keyrings: filesOf(get("signed-by")) };
}

/** `name` decides the format. */
function parseSources(name: string, text: string): readonly Source[] {
  const sources = name.endsWith(".sources")
    ? text.split(/\n\s*\n/).map(parseParagraph)
    : text.split("\n").map((line) => parseLine(line));
  return sources.filter((source) => source !== null);
}

function readSources(folder: string): readonly Source[] {
  const lists = path.join(folder, "sources.list.d");
  const files = [path.join(folder, "sources.list"), ...namesIn(lists).map((name) => path.join(lists, name))];
  return files.flatMap((file) => parseSources(path.basename(file), read(file)));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /\.(list|sources)$/.test(name))
      .toSorted();
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // It does not exist, or this user may not read it.
    return "";
  }
}

/** Sources of others, such as sury's, have the same names of releases, but not these paths. */
function mirrorIn(sources: readonly Source[], urlPath: RegExp): Mirror | null {
  for (const { uris, components, keyrings } of sources) {
    const url = uris.find((uri) => /^https?:/.test(uri) && urlPath.test(uri));
    if (url !== undefined && components.includes("main")) return { url: url.replace(/\/$/, ""), keyrings };
  }
  return null;
}

/** Returns the mirrors of a machine with Debian, or Debian's own. `folder`: apt's settings. */
export function machineMirrors(folder = "/etc/apt"): Mirrors {
  const sources = readSources(folder);
  return {
    main: mirrorIn(sources, /\/debian\/?$/) ?? official.main,
    security: mirrorIn(sources, /\/debian-security\/?$/) ?? official.security,
  };
}
