/** Values of SVCB and HTTPS records (RFC 9460), such as `1 . alpn="h3,h2" ipv4hint="192.0.2.1"` or `0 www.example.com.` */
import { readName } from "../names.ts";
import { BadValue } from "./badValue.ts";
import { keys, listKeys, nameOfKey, readParameters, writeParameter } from "./serviceParameters.ts";
import { endOfName, nameBytes, uint16, wholeNumber, writeNameAt } from "./wire.ts";

const maxParameterBytes = 65_535;

/** Throws `BadValue`. */
export function readServiceBinding(value: string): Buffer {
  const [, priority, target, rest = ""] = /^(\S+)\s+(\S+)(?:\s+(.*))?$/su.exec(value.trim()) ?? [];
  if (priority === undefined || target === undefined)
    throw new BadValue('Expected priority, target and parameters, such as 1 . alpn="h3,h2"');
  const number = wholeNumber(priority, "priority", 65_535);
  const parameters = readParameters(rest);
  if (number === 0 && parameters.size > 0)
    throw new BadValue("A record with the priority 0 is an alias, which has no parameters");
  checkTogether(parameters);
  const sorted = [...parameters].toSorted(([one], [other]) => one - other);
  return Buffer.concat([
    uint16(number),
    nameBytes(readName(target)),
    ...sorted.flatMap(([key, data]) => [uint16(key), uint16(data.length), data]),
  ]);
}

function checkTogether(parameters: ReadonlyMap<number, Buffer>): void {
  if ([...parameters.values()].some(({ length }) => length > maxParameterBytes))
    throw new BadValue(`A parameter is longer than ${maxParameterBytes} bytes`);
  if (parameters.has(keys.noDefaultAlpn) && !parameters.has(keys.alpn))
    throw new BadValue("The parameter no-default-alpn needs the parameter alpn");
  const missing = listKeys(parameters.get(keys.mandatory) ?? Buffer.of()).find((key) => !parameters.has(key));
  if (missing !== undefined)
    throw new BadValue(`The parameter mandatory lists ${nameOfKey(missing)}, which is missing`);
}

export function writeServiceBinding(rdata: Buffer): string {
  const words = [`${rdata.readUInt16BE(0)}`, writeNameAt(rdata, 2)];
  for (let at = endOfName(rdata, 2); at < rdata.length; ) {
    const end = at + 4 + rdata.readUInt16BE(at + 2);
    words.push(writeParameter(rdata.readUInt16BE(at), rdata.subarray(at + 4, end)));
    at = end;
  }
  return words.join(" ");
}
