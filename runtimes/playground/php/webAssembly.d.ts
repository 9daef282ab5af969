/** The part of WebAssembly's own interface that is used here: the compiler is told nothing of browsers. */
declare namespace WebAssembly {
  /** Given as they come, from whom needs them to whom makes the instance. */
  type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

  class Module {
    private constructor();
    readonly [Symbol.toStringTag]: "WebAssembly.Module";
  }

  class Instance {
    private constructor();
    readonly [Symbol.toStringTag]: "WebAssembly.Instance";
  }

  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: Module, imports: Imports): Promise<Instance>;
}
