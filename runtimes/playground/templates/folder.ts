/** The folder of a template, and the description that marks it as complete. */
import path from "node:path";
import type { MultisiteKind } from "../../runtime.ts";

/** Increased when the creation of templates changes. */
const layout = 5;

export interface TemplateKind {
  readonly locale: string;
  readonly multisite: MultisiteKind | null;
}

/** The template that is created before the first site. */
export const defaultTemplate: TemplateKind = { locale: "en_US", multisite: null };

export function templateFolder(assets: string, wordpressVersion: string, { locale, multisite }: TemplateKind): string {
  return path.join(assets, "templates", `${wordpressVersion}-${layout}-${locale}-${multisite ?? "single"}`);
}

export function descriptionOf(template: string): string {
  return path.join(template, "template.json");
}
