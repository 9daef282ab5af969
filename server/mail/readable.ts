/** Decodes a message for display, with limits on its length. */
import PostalMime, { type Attachment, type Email } from "postal-mime";

interface ReadableMail {
  readonly headers: { readonly name: string; readonly value: string }[];
  readonly text: string | null;
  readonly html: string | null;
  readonly is_shortened: boolean;
  readonly attachments: { readonly name: string | null; readonly type: string; readonly size_bytes: number }[];
}

const limits = { maxNestingDepth: 30, maxHeadersSize: 1 << 20, maxRfc822NestingDepth: 3 };
const maxTextLength = 200_000;
const maxListed = 200;

/** Shows the raw message if it can't be parsed. */
export async function readMail(message: Buffer): Promise<ReadableMail> {
  const email = await PostalMime.parse(message, limits).catch(() => rawEmail(message));
  const [text, html] = [clean(email.text), clean(email.html)];
  const isLong = (part: string | null) => part !== null && part.length > maxTextLength;
  return {
    headers: email.headers.slice(0, maxListed).map(({ originalKey, value }) => ({
      name: clean(originalKey) ?? "",
      value: (clean(value) ?? "").slice(0, maxTextLength),
    })),
    text: text?.slice(0, maxTextLength) ?? null,
    html: html?.slice(0, maxTextLength) ?? null,
    is_shortened: isLong(text) || isLong(html),
    attachments: email.attachments.slice(0, maxListed).map(view),
  };
}

function rawEmail(message: Buffer): Email {
  return { headers: [], headerLines: [], attachments: [], text: message.toString("utf8", 0, maxTextLength * 4) };
}

function clean(text: string | undefined): string | null {
  return text === undefined ? null : text.toWellFormed();
}

function view({ filename, mimeType, content }: Attachment) {
  const size = typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;
  return { name: filename?.toWellFormed() ?? null, type: mimeType, size_bytes: size };
}
