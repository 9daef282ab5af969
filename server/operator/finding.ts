/** What `doctor` finds. */

export type Level = "ok" | "note" | "problem";

export interface Finding {
  readonly level: Level;
  readonly text: string;
}

export const ok = (text: string): Finding => ({ level: "ok", text });
export const note = (text: string): Finding => ({ level: "note", text });
export const problem = (text: string): Finding => ({ level: "problem", text });
