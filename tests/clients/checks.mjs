// Named checks for the Node suites: each one is run, printed and counted, whatever happens to the others.

export const inOneLine = (error) => `${error.name}: ${error.message}`.replace(/\s+/g, " ").slice(0, 300);

export class Checks {
  constructor(client) {
    this.client = client;
    this.checks = [];
  }

  add(name, run) {
    this.checks.push({ name, run });
  }

  // Runs every check and returns the exit code; the last line printed is `N passed, M failed`.
  async run() {
    let failed = 0;
    for (const { name, run } of this.checks) {
      const began = performance.now();
      try {
        const remark = await run();
        const seconds = ((performance.now() - began) / 1000).toFixed(2);
        console.log(`ok     ${this.client}: ${name} (${seconds} s)${remark ? ` [${remark}]` : ""}`);
      } catch (error) {
        failed += 1;
        console.log(`FAILED ${this.client}: ${name}: ${inOneLine(error)}`);
        console.error(error.stack);
      }
    }
    console.log(`${this.checks.length - failed} passed, ${failed} failed`);
    return failed ? 1 : 0;
  }
}
