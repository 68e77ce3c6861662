"""Logs in to Superset as a person does, with headless Chromium, opens a dashboard, waits until its charts are drawn and
takes a picture: look.py BASE_URL DASHBOARD_ID CHARTS PICTURE. Prints what the page says."""
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

base, dashboard, charts, picture = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
options = webdriver.ChromeOptions()
options.binary_location = "/usr/bin/chromium"
for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,1100"):
    options.add_argument(flag)
browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
try:
    browser.set_page_load_timeout(120)
    browser.get(f"{base}/login/")
    wait = WebDriverWait(browser, 120)
    wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, "input[type=password]"))
    browser.find_element(By.CSS_SELECTOR, "input#username, input[name=username]").send_keys("admin")
    browser.find_element(By.CSS_SELECTOR, "input[type=password]").send_keys("admin\n")
    wait.until(lambda b: "/login" not in b.current_url)
    browser.get(f"{base}/superset/dashboard/{dashboard}/?standalone=1")

    # A chart is there when its table has rows or its canvas has points of some colour: the page's text says nothing of a line.
    PAINTED = """return Array.from(document.querySelectorAll('.dashboard-component-chart-holder')).map(holder => {
        const canvas = holder.querySelector('canvas');
        if (!canvas) return holder.querySelectorAll('table tbody tr').length;
        const points = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        let coloured = 0;
        for (let i = 0; i < points.length; i += 4)
            if (points[i + 3] > 0 && Math.max(points[i], points[i + 1], points[i + 2]) - Math.min(points[i], points[i + 1], points[i + 2]) > 40) coloured++;
        return coloured > 500 ? coloured : 0;
    })"""

    def drawn(b):
        painted = b.execute_script(PAINTED)
        return len(painted) >= charts and all(painted) and not b.find_elements(By.CSS_SELECTOR, "[data-test='loading-indicator'], .loading")

    wait.until(drawn)
    # The charts grow into place; a picture is taken once two in a row are the same.
    last = b""
    for _ in range(50):
        now = browser.get_screenshot_as_png()
        if now == last:
            break
        last = now
    with open(picture, "wb") as f:
        f.write(last)
    print(browser.find_element(By.TAG_NAME, "body").text)
finally:
    browser.quit()
