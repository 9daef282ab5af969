/** Encodes certificate signing requests (PKCS#10, RFC 2986) with host names only and a P-256 key. */
import { createPublicKey, type KeyObject, sign } from "node:crypto";

const tag = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  id: 0x06,
  sequence: 0x30,
  set: 0x31,
  dnsName: 0x82,
  attributes: 0xa0,
};
const shortest = 0x80;

const ecdsaWithSha256 = Buffer.from("2a8648ce3d040302", "hex");
const extensionRequest = Buffer.from("2a864886f70d01090e", "hex");
const subjectAltName = Buffer.from("551d11", "hex");

/** Returns DER. `names` are A-labels. */
export function makeRequest(names: readonly string[], key: KeyObject): Buffer {
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });
  const altNames = der(tag.sequence, ...names.map((name) => der(tag.dnsName, Buffer.from(name, "ascii"))));
  const extension = der(tag.sequence, der(tag.id, subjectAltName), der(tag.octets, altNames));
  const extensions = der(tag.set, der(tag.sequence, extension));
  const attributes = der(tag.attributes, der(tag.sequence, der(tag.id, extensionRequest), extensions));
  const version = der(tag.integer, Buffer.from([0]));
  const noSubject = der(tag.sequence);
  const info = der(tag.sequence, version, noSubject, publicKey, attributes);
  const algorithm = der(tag.sequence, der(tag.id, ecdsaWithSha256));
  const unusedBits = Buffer.from([0]);
  return der(tag.sequence, info, algorithm, der(tag.bits, unusedBits, sign("sha256", info, key)));
}

function der(type: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([type]), lengthOf(content.length), content]);
}

/** Lengths up to 127 take one byte; longer ones take a byte with the number of bytes that follow. */
function lengthOf(length: number): Buffer {
  if (length < shortest) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  return Buffer.concat([Buffer.from([shortest | bytes.length]), bytes]);
}
