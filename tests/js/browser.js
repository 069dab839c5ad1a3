// A page in headless Chromium, for the tests that click: `visit(url, act)` prints what `act(page)` returns, as JSON, with the
// errors that the page's console told.

import { chromium } from "playwright-core";

const [executablePath, url, ...given] = process.argv.slice(2);

export async function visit(act) {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage();
  const errors = [];
  page.setDefaultTimeout(240_000);
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(`${error}`));
  try {
    await page.goto(url);
    console.log(JSON.stringify({ ...(await act(page, ...given)), errors }));
  } finally {
    await browser.close();
  }
}
