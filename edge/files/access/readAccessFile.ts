/**
 * Reads `.htaccess` files as Apache 2.4 with all its modules does, but only the directives for access to files. Plugins close
 * folders with them, for example for files that customers have paid for.
 */
import type { AccessBlock } from "./access.ts";
import { type AccessRules, createAccessRules, type GroupKind, isAccessDirective } from "./accessRules.ts";
import { createPatternReader } from "./namePattern.ts";

type SectionKind = "transparent" | "ignored" | "names" | GroupKind;

interface Section {
  readonly tag: string;
  readonly kind: SectionKind;
  /** The rules to which directives in the section belong. */
  readonly rules: AccessRules;
}

/** A section's beginning or end, or a directive, in a line without white space around it. */
const line = /^(?:<(\/?)([a-z]+)\s*(.*)|([a-z]+)(?:\s+(.*))?)$/i;
const word = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s"']\S*)/g;
/** Sections within each other. The rest of a file with more is ignored. */
const maxDepth = 50;

/** Returns the blocks of the folder itself and of names in it, in the order of the file. */
export function readAccessFile(text: string): readonly AccessBlock[] {
  const folder = createAccessRules(null);
  const forNames: AccessRules[] = [];
  const readNamePattern = createPatternReader();
  const sections: Section[] = [];
  const rewriting = createRewriting();

  function open(tag: string, words: readonly string[], outer: Section): Section {
    const kind = outer.kind === "ignored" ? "ignored" : kindOf(tag, words);
    if (isGroup(kind)) outer.rules.beginGroup(kind);
    if (kind !== "names") return { tag, kind, rules: outer.rules };
    const isExpression = tag === "filesmatch" || words[0] === "~";
    const names = readNamePattern(words[words[0] === "~" ? 1 : 0] ?? "", isExpression);
    if (names === null) return { tag, kind: "ignored", rules: outer.rules };
    const rules = createAccessRules(names);
    forNames.push(rules);
    return { tag, kind, rules };
  }

  for (const written of linesOf(text)) {
    const inner = sections.at(-1) ?? { tag: "", kind: "transparent", rules: folder };
    const [, closing, tag, parameters = "", directive, rest = ""] = line.exec(written.trim()) ?? [];
    const name = (tag ?? directive ?? "").toLowerCase();
    if (isAccessDirective(name) && inner.kind !== "ignored") inner.rules.apply(name, wordsOf(rest));
    if (inner.kind === "transparent" && rewriting.forbidsAll(name, wordsOf(rest)))
      folder.apply("deny", ["from", "all"]);
    if (tag === undefined) continue;
    if (closing === "/") close(sections, name);
    else if (sections.length === maxDepth) break;
    else sections.push(open(name, wordsOf(parameters.replace(/>$/, "")), inner));
  }
  return [folder, ...forNames].flatMap((rules) => rules.result() ?? []);
}

/** Expressions that match all paths. */
const allPaths = new Set(["^", ".", ".*", ".+", ".?", "^.*", "^.*$", "(.*)", "^(.*)", "^(.*)$", "^.+$", "^(.+)$"]);

interface Rewriting {
  /** Takes the next directive (in lower case). Returns whether it refuses all paths to all visitors. */
  forbidsAll(name: string, words: readonly string[]): boolean;
}

/** `RewriteRule .* - [F]` and `RedirectMatch 403 .*`. After another rule or a condition, it may concern some paths only. */
function createRewriting(): Rewriting {
  let [isOn, isFirst] = [false, true];
  return {
    forbidsAll(name, [first = "", second = "", flags = ""]) {
      if (name === "redirectmatch") return /^40[34]$/.test(first) && allPaths.has(second);
      if (name === "rewriteengine") isOn = first.toLowerCase() === "on";
      if (name !== "rewritecond" && name !== "rewriterule") return false;
      const isForAll = isOn && isFirst && name === "rewriterule" && allPaths.has(first);
      isFirst = false;
      return isForAll && /[[,](?:f|forbidden|r=40[34])[\],]/i.test(flags);
    },
  };
}

/** A backslash at the end of a line joins it with the next one. */
function linesOf(text: string): string[] {
  const joined = text.replace(/^\uFEFF/, "").replace(/\\\r?\n/g, " ");
  return joined.split(/\r?\n|\r/);
}

/** Closes the section, and those in it that were not closed. */
function close(sections: Section[], tag: string): void {
  const from = sections.findLastIndex((section) => section.tag === tag);
  if (from === -1) return;
  for (const { kind, rules } of sections.splice(from).toReversed()) if (isGroup(kind)) rules.endGroup();
}

function isGroup(kind: SectionKind): kind is GroupKind {
  return kind === "requireany" || kind === "requireall" || kind === "requirenone";
}

function kindOf(tag: string, words: readonly string[]): SectionKind {
  switch (tag) {
    case "files":
    case "filesmatch":
      return "names";
    case "requireany":
    case "requireall":
    case "requirenone":
      return tag;
    case "ifmodule":
      return words[0]?.startsWith("!") ? "ignored" : "transparent";
    case "ifversion":
      return isVersion(words) ? "transparent" : "ignored";
    case "limit":
      return words.includes("GET") ? "transparent" : "ignored";
    case "limitexcept":
      return words.includes("GET") ? "ignored" : "transparent";
    default:
      return "ignored";
  }
}

/** Whether a condition such as `>= 2.4` is true for version 2.4. */
function isVersion([operator = "", version = operator]: readonly string[]): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const difference = 2 - major || 4 - minor;
  const isNegated = operator.startsWith("!");
  const result =
    (operator.includes("<") && difference < 0) ||
    (operator.includes(">") && difference > 0) ||
    (!/^!?[<>]$/.test(operator) && difference === 0);
  return result !== isNegated;
}

function wordsOf(text: string): string[] {
  return [...text.matchAll(word)].map(
    ([, double, single, bare]) => double?.replace(/\\"/g, '"') ?? single ?? bare ?? "",
  );
}
