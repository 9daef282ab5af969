/** Reads a message's sender and subject for lists. */
import { decodeWords } from "postal-mime";
import { readMessage, textOf } from "./header.ts";

const maxLength = 500;

interface Summary {
  readonly from: string;
  readonly subject: string;
}

/** Expects a message that `readEnvelope` has checked. */
export function summarise(message: Buffer): Summary {
  const { fields } = readMessage(message);
  const text = (name: string) => readable(decodeWords(textOf(fields, name) ?? "")).slice(0, maxLength);
  return { from: text("from"), subject: text("subject") };
}

/** One line without control characters and lone surrogates, which the database can't store. */
function readable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
}
