/** Where a template is, and the description that says that it is whole. */
import path from "node:path";
import type { MultisiteKind } from "../../runtime.ts";

/** Raised when templates are made differently from before. */
const layout = 4;

export interface TemplateKind {
  readonly locale: string;
  readonly multisite: MultisiteKind | null;
}

/** The one that is made before the first site is. */
export const usualTemplate: TemplateKind = { locale: "en_US", multisite: null };

export function templateFolder(assets: string, wordpressVersion: string, { locale, multisite }: TemplateKind): string {
  return path.join(assets, "templates", `${wordpressVersion}-${layout}-${locale}-${multisite ?? "single"}`);
}

export function descriptionOf(template: string): string {
  return path.join(template, "template.json");
}
