/** The folder of a template, and the description that marks it as complete. */
import path from "node:path";
import type { TemplateKind } from "../../site/template.ts";

/** Increased when the creation of templates changes. */
const layout = 5;

export function templateFolder(assets: string, wordpressVersion: string, { locale, multisite }: TemplateKind): string {
  return path.join(assets, "templates", `${wordpressVersion}-${layout}-${locale}-${multisite ?? "single"}`);
}

export function descriptionOf(template: string): string {
  return path.join(template, "template.json");
}
