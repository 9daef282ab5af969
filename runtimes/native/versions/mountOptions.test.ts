import { expect, test } from "vitest";
import { mountOptionsOf } from "./mountOptions.ts";

const mounts = `21 1 254:0 / / rw,relatime - ext4 /dev/vda rw
22 21 0:20 / /opt rw,nosuid - tmpfs none rw
23 22 0:21 / /opt/my\\040php ro,noexec - tmpfs none rw
24 22 0:22 / /opt/php rw - tmpfs none rw
25 24 0:23 / /opt/php rw,noexec - tmpfs none rw
`;

test.each([
  ["/usr/sbin/php-fpm", ["rw", "relatime"]],
  ["/opt/php-8/usr", ["rw", "nosuid"]],
  ["/opt/my php/usr/sbin", ["ro", "noexec"]],
  ["/opt/php", ["rw", "noexec"]],
])("options of the mount with %s", (file, options) => {
  expect(mountOptionsOf(file, mounts)).toEqual(options);
});
