/** A redirect rule as it is kept, and what is asked of rules. */

export interface RedirectRule {
  /** Lower case; null: every domain of the environment. */
  readonly domain: string | null;
  /** A path, or an expression (`readFrom`). */
  readonly from: string;
  readonly to: string;
  readonly type: "permanent" | "redirect";
  /** Two capital letters; null: visitors from anywhere. */
  readonly country: string | null;
  /** In English, as the database of places has it; null: the whole country. */
  readonly city: string | null;
}

/** The visitor's location, as far as it is known. */
export interface VisitorLocation {
  readonly country: string | null;
  readonly city: string | null;
}

export const nowhere: VisitorLocation = { country: null, city: null };

/** What a visitor asks for. */
export interface Asked {
  readonly scheme: "http" | "https";
  /** Lower case, without port. */
  readonly host: string;
  /** Decoded, with one slash between segments. */
  readonly path: string;
  /** With its question mark, or the empty text. */
  readonly query: string;
  /** Found out only where a rule depends on it. */
  readonly place: () => VisitorLocation;
}

export interface Redirect {
  readonly rule: RedirectRule;
  readonly status: 301 | 302;
  readonly location: string;
}

/** Why a rule can't be: a sentence's end, `must …`, about one of its fields. */
export class BadRule extends Error {
  override readonly name = "BadRule";
  readonly field: keyof RedirectRule;
  constructor(field: keyof RedirectRule, message: string) {
    super(message);
    this.field = field;
  }
}
