import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { machineOverload, setDeadline } from "./deadline.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a deadline on an idle machine is exact", () => {
  const onTimeUp = vi.fn();
  setDeadline(12, onTimeUp, () => 1);
  vi.advanceTimersByTime(11_999);
  expect(onTimeUp).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(onTimeUp).toHaveBeenCalledOnce();
});

test("a deadline is later in proportion while the machine is overloaded", () => {
  let overload = 10;
  const onTimeUp = vi.fn();
  setDeadline(12, onTimeUp, () => overload);
  vi.advanceTimersByTime(100_000);
  expect(onTimeUp, "ten seconds of running time").not.toHaveBeenCalled();
  overload = 1;
  vi.advanceTimersByTime(7_000);
  expect(onTimeUp).toHaveBeenCalledOnce();
});

test("a cancelled deadline does nothing", () => {
  const onTimeUp = vi.fn();
  const cancel = setDeadline(12, onTimeUp, () => 1);
  vi.advanceTimersByTime(7_000);
  cancel();
  vi.advanceTimersByTime(60_000);
  expect(onTimeUp).not.toHaveBeenCalled();
});

test("this machine's overload is at least 1 and bounded", () => {
  expect(machineOverload()).toBeGreaterThanOrEqual(1);
  expect(machineOverload()).toBeLessThanOrEqual(10);
});
