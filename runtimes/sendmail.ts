/** What PHP's `mail()` gives to sendmail: a message, and options of which a site controls the last (its fifth parameter). */
import type { OutgoingMail } from "./serving.ts";

/** Maximum size of a message, like most mail servers'. */
export const maxMessageBytes = 25 << 20;

/** Accepts no quotes or other special characters. */
const senderPattern = /^[A-Za-z0-9._+=-]{1,64}@[A-Za-z0-9.-]{1,253}$/;
/** Options without effect here: read recipients from the message; a line with a dot does not end it. */
const maxOptions = 20;
const plainOptions = new Set(["-t", "-i", "-oi"]);

/** Returns the sender named by `-f`, or null; undefined if there are other options than sendmail's usual ones. */
function senderIn(options: readonly string[]): string | null | undefined {
  let sender: string | null = null;
  const words = options.filter((option) => option !== "");
  if (words.length > maxOptions) return undefined;
  for (let index = 0; index < words.length; index += 1) {
    const option = words[index] ?? "";
    if (plainOptions.has(option)) continue;
    if (!option.startsWith("-f")) return undefined;
    if (option === "-f") index += 1;
    const address = option === "-f" ? (words[index] ?? "") : option.slice(2);
    if (!senderPattern.test(address)) return undefined;
    sender = address;
  }
  return sender;
}

/** Returns the mail, or the reason for refusing it. `message`: null if it was too large. */
export function mailOf(options: readonly string[], message: Buffer | null): OutgoingMail | string {
  const sender = senderIn(options);
  if (sender === undefined) return "the fifth parameter of mail() may only be -f with an address";
  if (message === null || message.length > maxMessageBytes)
    return `a message is limited to ${maxMessageBytes >> 20} MB`;
  return { sender, message };
}
