// Clicks the button of examples/client-browser and waits for its outcome.

import { visit } from "./browser.js";

await visit(async (page) => {
  await page.click("#run");
  await page.waitForFunction("document.querySelector('#outcome').textContent");
  return { steps: await page.locator("#steps li").allTextContents(), outcome: await page.textContent("#outcome") };
});
