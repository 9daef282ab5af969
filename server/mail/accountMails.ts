/** The mails that Sitewright itself sends to people: plain text with a link. */
import { buffer } from "node:stream/consumers";

export interface AccountMail {
  readonly to: string;
  /** The address that it is sent from. */
  readonly from: string;
  readonly subject: string;
  readonly text: string;
}

/** For somebody who has asked for a new password, or for whom somebody else has. */
export function resetWords({
  email,
  url,
  minutes,
}: {
  readonly email: string;
  readonly url: string;
  readonly minutes: number;
}) {
  return {
    subject: "Choose a new password for Sitewright",
    text: [
      `Somebody, probably you, has asked for a new password for ${email} at ${new URL(url).origin}.`,
      `Choose it here within ${minutes} minutes:`,
      url,
      "This link works once, and signs you out everywhere else. If you have a second factor, you still need it.",
      "If it wasn't you, ignore this mail: your password stays as it is.",
    ].join("\n\n"),
  };
}

/** For somebody whom a company has invited. */
export function invitationWords({ company, url }: { readonly company: string; readonly url: string }) {
  return {
    subject: `${company} invites you to Sitewright`,
    text: [
      `${company} invites you to manage its WordPress sites at ${new URL(url).origin}.`,
      "Accept the invitation here within a week:",
      url,
      "This link works once. If you don't know this company, ignore this mail.",
    ].join("\n\n"),
  };
}

/** Returns the whole message with CRLF line ends. */
export async function writeAccountMail({ to, from, subject, text }: AccountMail): Promise<Buffer> {
  const { createTransport } = await import("nodemailer");
  const composer = createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  const { message } = await composer.sendMail({
    to: { name: "", address: to },
    from: { name: "Sitewright", address: from },
    subject,
    text,
    // So that programs which answer absent people's mail stay silent.
    headers: { "Auto-Submitted": "auto-generated" },
  });
  return Buffer.isBuffer(message) ? message : buffer(message);
}
