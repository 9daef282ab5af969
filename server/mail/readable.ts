/** A message as a person reads it: decoded, and no longer than one would read. */
import PostalMime, { type Attachment, type Email } from "postal-mime";

export interface ReadableMail {
  readonly headers: { readonly name: string; readonly value: string }[];
  readonly text: string | null;
  readonly html: string | null;
  readonly is_shortened: boolean;
  readonly attachments: { readonly name: string | null; readonly type: string; readonly size_bytes: number }[];
}

const limits = { maxNestingDepth: 30, maxHeadersSize: 1 << 20, maxRfc822NestingDepth: 3 };
const textLength = 200_000;
const listed = 200;

/** What can't be understood is shown as it was written. */
export async function readMail(message: Buffer): Promise<ReadableMail> {
  const email = await PostalMime.parse(message, limits).catch(() => asItIs(message));
  const [text, html] = [clean(email.text), clean(email.html)];
  const isLong = (part: string | null) => part !== null && part.length > textLength;
  return {
    headers: email.headers.slice(0, listed).map(({ originalKey, value }) => ({
      name: clean(originalKey) ?? "",
      value: (clean(value) ?? "").slice(0, textLength),
    })),
    text: text?.slice(0, textLength) ?? null,
    html: html?.slice(0, textLength) ?? null,
    is_shortened: isLong(text) || isLong(html),
    attachments: email.attachments.slice(0, listed).map(view),
  };
}

function asItIs(message: Buffer): Email {
  return { headers: [], headerLines: [], attachments: [], text: message.toString("utf8", 0, textLength * 4) };
}

function clean(text: string | undefined): string | null {
  return text === undefined ? null : text.toWellFormed();
}

function view({ filename, mimeType, content }: Attachment) {
  const size = typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;
  return { name: filename?.toWellFormed() ?? null, type: mimeType, size_bytes: size };
}
