/** Types of redirect rules and of the requests that they match. */

export interface RedirectRule {
  /** Lower case; null: all domains of the environment. */
  readonly domain: string | null;
  /** A path or a regular expression (`readFrom`). */
  readonly from: string;
  readonly to: string;
  readonly type: "permanent" | "redirect";
  /** Two capital letters; null: all countries. */
  readonly country: string | null;
  /** English name as in the location database; null: all cities. */
  readonly city: string | null;
}

/** The visitor's location; null for unknown parts. */
export interface VisitorLocation {
  readonly country: string | null;
  readonly city: string | null;
}

export const nowhere: VisitorLocation = { country: null, city: null };

/** The requested URL. */
export interface RequestedUrl {
  readonly scheme: "http" | "https";
  /** Lower case, without port. */
  readonly host: string;
  /** Decoded, with one slash between segments. */
  readonly path: string;
  /** With its question mark, or empty. */
  readonly query: string;
  /** Returns the visitor's location. Called only if a rule depends on it. */
  readonly place: () => VisitorLocation;
}

export interface Redirect {
  readonly rule: RedirectRule;
  readonly status: 301 | 302;
  readonly location: string;
}

/** Thrown for an invalid rule. The message continues a sentence that starts with the field's name, such as `must …`. */
export class BadRule extends Error {
  override readonly name = "BadRule";
  readonly field: keyof RedirectRule;
  constructor(field: keyof RedirectRule, message: string) {
    super(message);
    this.field = field;
  }
}
