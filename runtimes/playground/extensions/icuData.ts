/**
 * Splits the data file of ICU, the library behind PHP's extension intl, into the files that it consists of. ICU reads the whole
 * data file into memory as soon as it needs any of it: 30 MB in each worker. From a folder it reads the few files that it needs.
 */

interface DataFile {
  /** Such as `icudt74l/de.res`. */
  readonly name: string;
  readonly content: Buffer;
}

const format = "CmnD";
const formatOffset = 12;
const entryBytes = 8;

/** The format is described in ICU's `ucmndata.h`: a header, then a table of contents with offsets from its own start. */
export function splitIcuData(data: Buffer): readonly DataFile[] {
  if (data.toString("latin1", formatOffset, formatOffset + format.length) !== format) {
    throw new Error("ICU's data file has an unknown format.");
  }
  const table = data.subarray(data.readUInt16LE(0));
  const count = table.readUInt32LE(0);
  const entries = Array.from({ length: count }, (_, index) => {
    const entry = 4 + index * entryBytes;
    const name = table.readUInt32LE(entry);
    return { name: table.toString("latin1", name, table.indexOf(0, name)), start: table.readUInt32LE(entry + 4) };
  });
  return entries.map(({ name, start }, index) => ({ name, content: table.subarray(start, entries[index + 1]?.start) }));
}
