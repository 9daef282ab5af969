/**
 * Records of the FastCGI protocol, version 1: a header of eight bytes (version, type, request id, lengths of content and
 * padding), then the content. A connection has one request at a time here, so the id is always 1.
 *
 * https://fastcgi-archives.github.io/FastCGI_Specification.html
 */

export const recordTypes = {
  beginRequest: 1,
  endRequest: 3,
  parameters: 4,
  input: 5,
  output: 6,
  errors: 7,
} as const;

/** How the server says that it has run a request. Any other status means that it has not. */
export const requestComplete = 0;

export interface FastCgiRecord {
  readonly type: number;
  readonly content: Buffer;
}

/** One side can't follow the protocol: PHP's response is damaged, or the request can't be sent. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

const version = 1;
const requestId = 1;
const headerBytes = 8;
const maxContentBytes = 0xffff;
const responder = 1;
const keepConnection = 1;

function header(type: number, contentBytes: number): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  bytes.writeUInt8(version, 0);
  bytes.writeUInt8(type, 1);
  bytes.writeUInt16BE(requestId, 2);
  bytes.writeUInt16BE(contentBytes, 4);
  return bytes;
}

/** A record with this content, or several if it is longer than one may be. */
function recordsOf(type: number, content: Uint8Array): Buffer[] {
  const records: Buffer[] = [];
  for (let start = 0; start < content.length; start += maxContentBytes) {
    const piece = content.subarray(start, start + maxContentBytes);
    records.push(header(type, piece.length), Buffer.from(piece.buffer, piece.byteOffset, piece.length));
  }
  return records;
}

/** An empty record ends parameters and input. */
const endOf = (type: number): Buffer => header(type, 0);

/** Lengths up to 127 take one byte, others four, of which the first bit is set. */
function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  const encoded = Buffer.alloc(4);
  encoded.writeUInt32BE((bytes | 0x80000000) >>> 0);
  return encoded;
}

function parameter(name: string, value: string): Buffer {
  const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)];
  return Buffer.concat([length(nameBytes.length), length(valueBytes.length), nameBytes, valueBytes]);
}

/** Joins pairs to records. php-fpm refuses a pair that is not in one record. Throws `ProtocolError` if one is too long. */
function parameterRecords(parameters: Readonly<Record<string, string>>): Buffer[] {
  const records: Buffer[] = [];
  let pairs: Buffer[] = [];
  let bytes = 0;
  const finish = () => {
    if (bytes > 0) records.push(header(recordTypes.parameters, bytes), ...pairs);
    [pairs, bytes] = [[], 0];
  };
  for (const [name, value] of Object.entries(parameters)) {
    const pair = parameter(name, value);
    if (pair.length > maxContentBytes) throw new ProtocolError(`${name} is too long for PHP.`);
    if (bytes + pair.length > maxContentBytes) finish();
    pairs.push(pair);
    bytes += pair.length;
  }
  finish();
  return records;
}

/**
 * The records that begin a request: its parameters, in UTF-8. The server keeps the connection after the response. Throws
 * `ProtocolError` if name and value of a parameter have more than 65,527 bytes.
 */
export function beginRequest(parameters: Readonly<Record<string, string>>): Buffer {
  const begin = Buffer.from([0, responder, keepConnection, 0, 0, 0, 0, 0]);
  return Buffer.concat([
    header(recordTypes.beginRequest, begin.length),
    begin,
    ...parameterRecords(parameters),
    endOf(recordTypes.parameters),
  ]);
}

/** The records of a piece of the request's body. */
export function inputRecords(piece: Uint8Array): Buffer {
  return Buffer.concat(recordsOf(recordTypes.input, piece));
}

/** The record after the last piece of the request's body. */
export const endOfInput = endOf(recordTypes.input);

/** Returns a function that takes the bytes of a connection and calls `onRecord` with each complete record. */
export function createRecordReader(onRecord: (record: FastCgiRecord) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    while (bytes.length - start >= headerBytes) {
      if (bytes.readUInt8(start) !== version) throw new ProtocolError("PHP sent bytes that are not FastCGI.");
      const contentBytes = bytes.readUInt16BE(start + 4);
      const end = start + headerBytes + contentBytes + bytes.readUInt8(start + 6);
      if (bytes.length < end) break;
      const content = bytes.subarray(start + headerBytes, start + headerBytes + contentBytes);
      onRecord({ type: bytes.readUInt8(start + 1), content });
      start = end;
    }
    rest = bytes.subarray(start);
  };
}
