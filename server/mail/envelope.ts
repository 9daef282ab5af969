/** Who a message is from and whom it goes to, apart from what it shows them. */
import type { OutgoingMail } from "@sitewright/runtimes/serving.ts";
import { readAddress, readAddresses } from "./addresses.ts";
import { addressFields, type Field, readMessage, textOf } from "./header.ts";
import { MailRefused } from "./refusal.ts";

export interface Envelope {
  /** Null if the message names no recipient. */
  readonly sender: string | null;
  readonly recipients: readonly string[];
}

const mostRecipients = 100;

/** Throws `MailRefused`. */
export function readEnvelope({ sender, message }: OutgoingMail): Envelope {
  const { fields } = readMessage(message);
  const recipients = new Set([...addressFields].flatMap((name) => readAddresses(textOf(fields, name) ?? "", name)));
  if (recipients.size === 0) throw new MailRefused("it has no recipient");
  if (recipients.size > mostRecipients) throw new MailRefused(`it has more than ${mostRecipients} recipients`);
  const named = sender === null ? null : readAddress(sender);
  if (sender !== null && named === null) throw new MailRefused("the sender of -f is no address");
  const written = senderIn(fields);
  return { sender: named ?? written, recipients: [...recipients] };
}

function senderIn(fields: readonly Field[]): string | null {
  const first = (name: string) => readAddresses(textOf(fields, name) ?? "", name)[0] ?? null;
  // A form's visitor often writes the third: it decides nothing, but must not be a way to add something.
  const [sender, from] = ["sender", "from", "reply-to"].map(first);
  return sender ?? from ?? null;
}
