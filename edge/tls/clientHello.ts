/** Reads the first message of a TLS handshake (RFC 8446, section 4.1.2), as far as needed before OpenSSL gets it. */

/** The first byte of a TLS connection (RFC 8446, section 5.1). */
export const handshakeRecord = 22;
const recordHeader = 5;
const maxRecordBytes = 1 << 14;
const recordAndMessageHeaders = recordHeader + 4;
const versionAndRandom = 2 + 32;
const supportedVersions = 43;
const tls13 = 0x0304;

/**
 * How many bytes to wait for before the handshake is looked at: those of the first record. Nothing more if it can't be a
 * record of a handshake.
 */
export function firstRecordBytes(received: Buffer): number {
  if (received[0] !== handshakeRecord) return 1;
  if (received.length < recordHeader) return recordHeader;
  const length = received.readUInt16BE(recordHeader - 2);
  return length > maxRecordBytes ? recordHeader : recordHeader + length;
}

/**
 * Whether the client offers TLS 1.3, which the edge then chooses. `first` is what the connection has sent so far; false
 * if the list of versions has not arrived yet.
 */
export function offersTls13(first: Buffer): boolean {
  const extensions = findExtensions(first);
  for (let at = extensions; at + 4 <= first.length; at += 4 + first.readUInt16BE(at + 2)) {
    if (first.readUInt16BE(at) !== supportedVersions) continue;
    return listsTls13(first.subarray(at + 4, at + 4 + first.readUInt16BE(at + 2)));
  }
  return false;
}

/** The position of the first extension, after three lists of variable length. The end if they have not arrived yet. */
function findExtensions(hello: Buffer): number {
  let at = recordAndMessageHeaders + versionAndRandom;
  for (const lengthBytes of [1, 2, 1]) {
    if (at + lengthBytes > hello.length) return hello.length;
    at += lengthBytes + hello.readUIntBE(at, lengthBytes);
  }
  return at + 2;
}

/** `list` is its length in bytes, then two bytes for each version. */
function listsTls13(list: Buffer): boolean {
  for (let at = 1; at + 2 <= list.length; at += 2) if (list.readUInt16BE(at) === tls13) return true;
  return false;
}
