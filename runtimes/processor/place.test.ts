import { expect, test } from "vitest";
import { isSystemdService, placeIn } from "./place.ts";

const version1 = "30 24 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct";
const version2 = "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";

test.each([
  {
    description: "version 1",
    groups: "4:memory:/a\n3:cpu,cpuacct:/system.slice/b\n0::/c",
    mounts: version1,
    place: { version: 1, folder: "/sys/fs/cgroup/cpu,cpuacct/system.slice/b" },
  },
  {
    description: "version 2",
    groups: "0::/system.slice/sitewright.service",
    mounts: version2,
    place: { version: 2, folder: "/sys/fs/cgroup/system.slice/sitewright.service" },
  },
  {
    description: "both versions, and the processor belongs to the first",
    groups: "3:cpu:/\n0::/c",
    mounts: `${version2.replace("/sys/fs/cgroup ", "/sys/fs/cgroup/unified ")}\n${version1}`,
    place: { version: 1, folder: "/sys/fs/cgroup/cpu,cpuacct" },
  },
  {
    description: "a container that sees only its own part",
    groups: "3:cpu:/docker/abc/x",
    mounts: "30 24 0:26 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu",
    place: { version: 1, folder: "/sys/fs/cgroup/cpu/x" },
  },
  { description: "no groups", groups: "", mounts: "20 1 0:1 / / rw - ext4 /dev/vda rw", place: null },
])("the place of a process: $description", ({ groups, mounts, place }) => {
  expect(placeIn(groups, mounts, "cpu")).toEqual(place);
});

test("a process has a place of its own for each controller of version 1", () => {
  const mounts = `${version1}\n31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory`;
  const groups = "4:memory:/a\n3:cpu,cpuacct:/b";
  expect(placeIn(groups, mounts, "memory")).toEqual({ version: 1, folder: "/sys/fs/cgroup/memory/a" });
  expect(placeIn(groups, mounts, "pids")).toBeNull();
});

test("a process is a service if systemd has started it itself", () => {
  expect(isSystemdService({ SYSTEMD_EXEC_PID: String(process.pid) })).toBe(true);
  expect(isSystemdService({ SYSTEMD_EXEC_PID: String(process.ppid) })).toBe(false);
  expect(isSystemdService({})).toBe(false);
});
