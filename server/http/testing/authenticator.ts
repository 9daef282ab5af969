/** An authenticator with one passkey, as tests without a browser use it: ES256, without attestation. */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

interface Use {
  /** Of the page. */
  readonly origin: string;
  /** Default: one more than the last time. */
  readonly counter?: number;
  /** By fingerprint or PIN. Default: true. */
  readonly isUserVerified?: boolean;
  readonly userHandle?: string;
  /** Default: that of the options. */
  readonly challenge?: string;
}

const flags = { present: 0x01, verified: 0x04, canBeBackedUp: 0x08, isBackedUp: 0x10, hasKey: 0x40 };

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest();

const clientData = (type: string, challenge: string, origin: string): Buffer =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

/** RP id, flags and counter. */
function authenticatorData(rpId: string, flag: number, counter: number): Buffer {
  const tail = Buffer.alloc(5);
  tail.writeUInt8(flag);
  tail.writeUInt32BE(counter, 1);
  return Buffer.concat([sha256(rpId), tail]);
}

/** A number of two bytes. */
function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

/** Makes a passkey that has not been added anywhere. */
export function makePasskey() {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const id = randomBytes(32);
  const text = id.toString("base64url");
  let uses = 0;

  /** The public key in COSE, which is CBOR: {1: 2, 3: -7, -1: 1, -2: x, -3: y}. */
  const coseKey = Buffer.concat([
    Buffer.from("a5010203262001215820", "hex"),
    Buffer.from(x, "base64url"),
    Buffer.from("225820", "hex"),
    Buffer.from(y, "base64url"),
  ]);

  return {
    id: text,
    /** Answers `navigator.credentials.create`. */
    create({ challenge, rp }: CreationOptions, origin: string) {
      const flag = flags.present | flags.verified | flags.canBeBackedUp | flags.isBackedUp | flags.hasKey;
      const data = Buffer.concat([authenticatorData(rp.id, flag, 0), Buffer.alloc(16), uint16(id.length), id, coseKey]);
      // CBOR: {"fmt": "none", "attStmt": {}, "authData": data}.
      const attestation = Buffer.concat([
        Buffer.from("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59", "latin1"),
        uint16(data.length),
        data,
      ]);
      const response = {
        clientDataJSON: clientData("webauthn.create", challenge, origin).toString("base64url"),
        attestationObject: attestation.toString("base64url"),
        transports: ["internal", "telepathy"],
      };
      return { id: text, type: "public-key", response };
    },
    /** Answers `navigator.credentials.get`. */
    use(options: RequestOptions, { origin, counter = uses + 1, isUserVerified = true, userHandle, challenge }: Use) {
      uses = counter;
      const flag = flags.present | (isUserVerified ? flags.verified : 0) | flags.canBeBackedUp | flags.isBackedUp;
      const data = authenticatorData(options.rpId, flag, counter);
      const client = clientData("webauthn.get", challenge ?? options.challenge, origin);
      const signature = sign("sha256", Buffer.concat([data, sha256(client)]), privateKey);
      const response = {
        clientDataJSON: client.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: signature.toString("base64url"),
        ...(userHandle !== undefined && { userHandle }),
      };
      return { id: text, type: "public-key", response };
    },
  };
}

export type TestPasskey = ReturnType<typeof makePasskey>;
