/** Templates: a pristine WordPress for each language and kind of network, from which new sites are copied. */
import type { MultisiteKind } from "../runtime.ts";

export interface TemplateKind {
  readonly locale: string;
  readonly multisite: MultisiteKind | null;
}

/** The template that is created before the first site. */
export const defaultTemplate: TemplateKind = { locale: "en_US", multisite: null };

/** One column of one row. */
export interface PlaceholderPosition {
  readonly table: string;
  readonly column: string;
  readonly rowid: number;
}

export interface Template {
  /** Contains `public` and `database`, like a release of an environment. */
  readonly folder: string;
  readonly wordpressVersion: string;
  /** Positions of the placeholders in the database. */
  readonly places: readonly PlaceholderPosition[];
}

export interface TemplateStore {
  /** Returns the template, and creates it on first use, which takes seconds. Safe in several processes at once. */
  get(kind: TemplateKind): Promise<Template>;
}
