/** The lists of rules in files that control leaves for the edge: `<list>.json` in a folder of their own. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RedirectRule } from "./rule.ts";

const listName = /^[0-9a-z-]{1,64}$/i;

export function ruleFile(folder: string, list: string): string {
  if (!listName.test(list)) throw new Error("A list of rules has a name of letters, digits and hyphens");
  return join(folder, `${list}.json`);
}

/** Rejects if there is none, or where it is no list of rules. */
export async function readRules(folder: string, list: string): Promise<readonly RedirectRule[]> {
  const rules: unknown = JSON.parse(await readFile(ruleFile(folder, list), "utf8"));
  if (!Array.isArray(rules)) throw new Error(`The list ${list} is none`);
  return rules.map((rule: unknown) => {
    if (typeof rule !== "object" || rule === null) throw new Error(`The list ${list} has something that is no rule`);
    return readRule({ ...rule });
  });
}

function readRule(rule: Readonly<Record<string, unknown>>): RedirectRule {
  const { type } = rule;
  if (type !== "permanent" && type !== "redirect") throw new Error("A redirect rule has no type");
  const [from, to] = [textOrNull(rule.from), textOrNull(rule.to)];
  if (from === null || to === null) throw new Error("A redirect rule leads nowhere");
  const [domain, country, city] = [textOrNull(rule.domain), textOrNull(rule.country), textOrNull(rule.city)];
  return { domain, from, to, type, country, city };
}

function textOrNull(value: unknown): string | null {
  if (value === null || typeof value === "string") return value;
  throw new Error("A field of a redirect rule is neither a text nor null");
}
