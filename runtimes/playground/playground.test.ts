import { testRuntime } from "../conformance.ts";
import { openPlayground } from "./testing/world.ts";

testRuntime("playground", () => openPlayground());
