/** Lines of the files from which PHP reads its settings. */

/** Returns the line, with the value in quotes. `key`: what the file calls the setting. Throws if PHP could not read it. */
export function settingLine(key: string, value: string | number): string {
  if (/["\\\p{Cc}]/u.test(`${key}${value}`)) throw new Error(`The setting ${key} has characters that PHP can't read.`);
  return `${key} = "${value}"`;
}
