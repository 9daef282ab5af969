/** Reads sender and recipients from a message. */
import type { OutgoingMail } from "@sitewright/runtimes/serving.ts";
import { readAddress, readAddresses } from "./addresses.ts";
import { addressFields, type Field, readMessage, textOf } from "./header.ts";
import { MailRefused } from "./refusal.ts";

export interface Envelope {
  /** Null if the message names no sender. */
  readonly sender: string | null;
  readonly recipients: readonly string[];
}

const maxRecipients = 100;

/** Throws `MailRefused`. */
export function readEnvelope({ sender, message }: OutgoingMail): Envelope {
  const { fields } = readMessage(message);
  const recipients = new Set([...addressFields].flatMap((name) => readAddresses(textOf(fields, name) ?? "", name)));
  if (recipients.size === 0) throw new MailRefused("the message has no recipients");
  if (recipients.size > maxRecipients) throw new MailRefused(`the message has more than ${maxRecipients} recipients`);
  const givenSender = sender === null ? null : readAddress(sender);
  if (sender !== null && givenSender === null) throw new MailRefused("the sender given with -f is not a valid address");
  const headerSender = senderIn(fields);
  return { sender: givenSender ?? headerSender, recipients: [...recipients] };
}

function senderIn(fields: readonly Field[]): string | null {
  const first = (name: string) => readAddresses(textOf(fields, name) ?? "", name)[0] ?? null;
  // Reply-To often comes from a visitor's form input: it is checked against injection, but not used.
  const [sender, from] = ["sender", "from", "reply-to"].map(first);
  return sender ?? from ?? null;
}
