import { expect, test } from "vitest";
import { clientNetwork, InvalidNetwork, readNetwork } from "./networks.ts";

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["203.0.113.7/32", "203.0.113.7"],
  ["203.0.113.0/24", "203.0.113.0/24"],
  ["203.0.113.128/25", "203.0.113.128/25"],
  ["0.0.0.0", "0.0.0.0"],
  ["128.0.0.0/1", "128.0.0.0/1"],
  ["126.0.0.0/8", "126.0.0.0/8"],
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["2001:0db8::0001/128", "2001:db8::1"],
  ["2001:db8::/32", "2001:db8::/32"],
  ["2001:DB8:8000::/33", "2001:db8:8000::/33"],
  ["2001:db8:0:1:0:0:0:1", "2001:db8:0:1::1"],
  ["::", "::"],
  ["::2", "::2"],
  ["8000::/1", "8000::/1"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["::FFFF:cb00:7107", "203.0.113.7"],
  ["::ffff:203.0.113.0/120", "203.0.113.0/24"],
])("converts %s to %s", (text, network) => {
  expect(readNetwork(text)).toBe(network);
  expect(readNetwork(network)).toBe(network);
});

test.each([
  ["", "be an IP address"],
  [" ", "be an IP address"],
  [" 203.0.113.7", "be an IP address"],
  ["203.0.113.7 ", "be an IP address"],
  ["203.0.113.7\n", "be an IP address"],
  ["203.0.113", "be an IP address"],
  ["203.0.113.256", "be an IP address"],
  ["3405803783", "be an IP address"],
  ["0xcb.0.113.7", "be an IP address"],
  ["203.0.113.*", "be an IP address"],
  ["203.0.113.1-203.0.113.9", "be an IP address"],
  ["203.0.113.7:80", "be an IP address"],
  ["[::1]", "be an IP address"],
  ["example.com", "be an IP address"],
  ["localhost", "be an IP address"],
  ["1::2::3", "be an IP address"],
  ["2001:db8::g", "be an IP address"],
  ["/24", "be an IP address"],
  ["٢٠٣.0.113.7", "be an IP address"],
  ["203.0.113.007", "leading zero"],
  ["010.0.0.1", "leading zero"],
  ["fe80::1%eth0", "without a zone"],
  ["fe80::1%eth0/64", "without a zone"],
  ["1.2.3.4/33", "from 1 to 32"],
  ["1.2.3.4/-1", "from 1 to 32"],
  ["1.2.3.4/", "from 1 to 32"],
  ["1.2.3.4/08", "from 1 to 32"],
  ["1.2.3.4/1e1", "from 1 to 32"],
  ["1.2.3.4/ 8", "from 1 to 32"],
  ["1.2.3.4/255.255.255.0", "from 1 to 32"],
  ["::/129", "from 1 to 128"],
  ["1.2.3.4/24/24", "one slash"],
  ["0.0.0.0/0", "contain all addresses"],
  ["::/0", "contain all addresses"],
  ["::ffff:0:0/96", "contain all addresses"],
  ["127.0.0.1", "loopback addresses"],
  ["127.8.9.10", "loopback addresses"],
  ["127.0.0.0/8", "loopback addresses"],
  ["127.1.0.0/16", "loopback addresses"],
  ["0.0.0.0/1", "loopback addresses"],
  ["64.0.0.0/2", "loopback addresses"],
  ["::1", "loopback addresses"],
  ["::/127", "loopback addresses"],
  ["::/1", "loopback addresses"],
  ["::ffff:127.0.0.1", "loopback addresses"],
  ["::ffff:7f00:0/104", "loopback addresses"],
  ["203.0.113.7/24", "203.0.113.0/24, or 203.0.113.7 for the single address"],
  ["2001:db8::1/32", "2001:db8::/32, or 2001:db8::1 for the single address"],
])("rejects %j", (text, message) => {
  expect(() => readNetwork(text)).toThrow(InvalidNetwork);
  expect(() => readNetwork(text)).toThrow(message);
});

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["fe80::1%eth0", "fe80::/64"],
  ["203.0.113.7:51234", "unknown"],
  ["", "unknown"],
])("counts %s as a client of %s", (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});
