/** Reads lists of redirect rules, which the control process writes as `<list>.json` into a separate folder. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RedirectRule } from "./rule.ts";

const listName = /^[0-9a-z-]{1,64}$/i;

export function ruleFile(folder: string, list: string): string {
  if (!listName.test(list)) throw new Error("The name of a list of rules may only contain letters, digits and hyphens");
  return join(folder, `${list}.json`);
}

/** Rejects if the file is missing or is not a list of rules. */
export async function readRules(folder: string, list: string): Promise<readonly RedirectRule[]> {
  const rules: unknown = JSON.parse(await readFile(ruleFile(folder, list), "utf8"));
  if (!Array.isArray(rules)) throw new Error(`${list}.json is not a list`);
  return rules.map((rule: unknown) => {
    if (typeof rule !== "object" || rule === null) throw new Error(`${list}.json has an entry that is not a rule`);
    return readRule({ ...rule });
  });
}

function readRule(rule: Readonly<Record<string, unknown>>): RedirectRule {
  const { type } = rule;
  if (type !== "permanent" && type !== "redirect") throw new Error("A redirect rule has no valid type");
  const [from, to] = [textOrNull(rule.from), textOrNull(rule.to)];
  if (from === null || to === null) throw new Error("A redirect rule has no source or target");
  const [domain, country, city] = [textOrNull(rule.domain), textOrNull(rule.country), textOrNull(rule.city)];
  return { domain, from, to, type, country, city };
}

function textOrNull(value: unknown): string | null {
  if (value === null || typeof value === "string") return value;
  throw new Error("A field of a redirect rule is neither a string nor null");
}
