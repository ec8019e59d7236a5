// SPDX-License-Identifier: Apache-2.0
// picture.mjs URL OUT.png WIDTH HEIGHT [KEY...]: a picture of a page, after some keys.
import { chromium } from "playwright-core";

const [url, out, width, height, ...keys] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: Number(width), height: Number(height) } });
await page.goto(url);
await page.waitForTimeout(3000);
for (const key of keys) {
    await page.keyboard.press(key);
    await page.waitForTimeout(200);
}
await page.screenshot({ path: out });
await browser.close();
