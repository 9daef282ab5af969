/** What lists say of a message: whom it says to be from, and its subject, as people write them. */
import { decodeWords } from "postal-mime";
import { readMessage, textOf } from "./header.ts";

const length = 500;

export interface Summary {
  readonly from: string;
  readonly subject: string;
}

/** The message was checked by `readEnvelope`. */
export function summarise(message: Buffer): Summary {
  const { fields } = readMessage(message);
  const text = (name: string) => readable(decodeWords(textOf(fields, name) ?? "")).slice(0, length);
  return { from: text("from"), subject: text("subject") };
}

/** In one line, and as the database can keep it: without control characters and halves of characters. */
function readable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
}
