/** Zips of plugins and themes, valid and invalid ones. */
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";

export interface ZippedFile {
  readonly content: string | Buffer;
  /** Includes the file type. Absent: a regular file. */
  readonly mode?: number;
}

/** Files by path in the zip. A path with a trailing slash is a folder. */
export async function zipOf(files: Readonly<Record<string, string | ZippedFile>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, file] of Object.entries(files)) {
    const { content, mode = 0o100644 } = typeof file === "string" ? { content: file } : file;
    if (name.endsWith("/")) zip.addEmptyDirectory(name);
    else zip.addBuffer(Buffer.from(content), name, { mode });
  }
  zip.end();
  return buffer(zip.outputStream);
}

/** Replaces all occurrences of a text with another one of the same length. */
export function withText(zip: Buffer, text: string, other: string): Buffer {
  if (text.length !== other.length) throw new Error("The texts differ in length");
  return Buffer.from(zip.toString("latin1").replaceAll(text, other), "latin1");
}

function header(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => ` * ${name}: ${value}\n`)
    .join("");
}

export type MoreFiles = Readonly<Record<string, string | ZippedFile>>;

/** A plugin whose one file is `code`; `more` are paths below its folder. */
export function pluginZip(
  slug: string,
  version: string,
  code = "",
  more: MoreFiles = {},
  fields: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  const main = `<?php\n/*\n${header({ "Plugin Name": `The ${slug}`, Version: version, ...fields })} */\n${code}\n`;
  return zipOf({ [`${slug}/${slug}.php`]: main, ...below(slug, more) });
}

/** A theme whose `index.php` is `code`. */
export function themeZip(slug: string, version: string, code = "", more: MoreFiles = {}): Promise<Buffer> {
  const style = `/*\n${header({ "Theme Name": `The ${slug}`, Version: version })}*/\n`;
  return zipOf({ [`${slug}/style.css`]: style, [`${slug}/index.php`]: `<?php\n${code}\n`, ...below(slug, more) });
}

function below(slug: string, files: MoreFiles): MoreFiles {
  return Object.fromEntries(Object.entries(files).map(([name, file]) => [`${slug}/${name}`, file]));
}

/** An empty file of compiled translations: magic number, version, number of texts, and where their tables are. */
const emptyMo = Buffer.from(Uint32Array.of(0x950412de, 0, 0, 28, 28, 0, 28).buffer);

/** A language pack of the text domain `domain`, which is empty for WordPress itself. `revised` is a `PO-Revision-Date`. */
export function languagePackZip(domain: string, locale: string, revised: string, messages = "[]"): Promise<Buffer> {
  const name = domain === "" ? locale : `${domain}-${locale}`;
  const po = `msgid ""\nmsgstr ""\n"PO-Revision-Date: ${revised}\\n"\n`;
  return zipOf({
    [`${name}.po`]: po,
    [`${name}.mo`]: { content: emptyMo },
    [`${name}.l10n.php`]: `<?php return ['messages' => ${messages}];`,
  });
}
