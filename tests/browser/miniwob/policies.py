"""Scripted policies, one for each task: they read the lines of `look` and answer with steps of `act`."""
import re, time

from page import Failed

POLICIES = {}
PLACES = {"1st": 0, "2nd": 1, "3rd": 2, "4th": 3, "5th": 4, "6th": 5, "7th": 6, "8th": 7, "9th": 8, "10th": 9}
FIELDS = ("Edit", "Spinner", "ComboBox")


def task(*names):
    def add(policy):
        for name in names:
            POLICIES[name] = policy
        return policy
    return add


def place_in(query):
    """1st is 0."""
    return PLACES[re.search(r"\b(\d+(?:st|nd|rd|th))\b", query)[1]]


def submit(page):
    return page.click(page.one("Button", re.compile("^(Submit|submit|Login|OK|Ok)$")))


# ── buttons, links, tabs, menus ──────────────────────────────────────────────────────────────────────

@task("click-test")
def click_test(page):
    page.act(page.click(page.one("Button")))


@task("click-test-2", "click-test-transfer")
def click_named(page):
    page.act(page.click(page.one("Button", re.search(r"button (\w+)", page.query)[1])))


@task("click-button-sequence")
def click_sequence(page):
    page.act(*[page.click(page.one("Button", name)) for name in ("ONE", "TWO")])


@task("button-delay")
def button_delay(page):
    seconds = float(re.search(r"wait (\d+)", page.query)[1])
    page.act(page.click(page.one("Button", "ONE")))
    time.sleep(max(0, seconds - 0.15))
    page.act(page.click(page.one("Button", "TWO")))


@task("click-button", "unicode-test")
def click_button(page):
    page.act(page.click(page.one("Button", page.quoted())))


@task("click-dialog")
def click_dialog(page):
    page.act(page.click(page.one("Button", re.compile("(?i)close"))))


@task("click-dialog-2")
def click_dialog_2(page):
    wanted = page.quoted()
    pattern = re.compile("(?i)^close$") if wanted == "x" else wanted
    page.act(page.click(page.one("Button", pattern)))


@task("click-link")
def click_link(page):
    page.act(page.click(page.one(("Button", "Hyperlink"), page.quoted())))


@task("click-tab")
def click_tab(page):
    page.act(page.click(page.one(("Hyperlink", "TabItem"), re.search(r"Tab #\d", page.query)[0])))


def search_behind(page, openers, wanted):
    """Opens one part after the other until the link shows."""
    for opener in [None, *openers]:
        if opener is not None:
            page.act(page.click(opener))
            time.sleep(0.4)
            page.look()
        found = page.all(("Button", "Hyperlink"), wanted) or page.all(("Button", "Hyperlink"), re.compile(f"^{re.escape(wanted)}[.,]?$"))
        if found:
            return page.act(page.click(found[0]))
    raise Failed(f"{wanted} is behind none of {openers}")


@task("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard")
def click_tab_2(page):
    search_behind(page, page.all(("TabItem",)), page.quoted())


@task("click-collapsible", "click-collapsible-nodelay")
def click_collapsible(page):
    page.act(page.click(page.one("TabItem")))
    time.sleep(0.5)
    page.look()
    page.act(submit(page))


@task("click-collapsible-2", "click-collapsible-2-nodelay")
def click_collapsible_2(page):
    search_behind(page, page.all("TabItem"), page.quoted())


@task("click-menu")
def click_menu(page):
    *above, last = re.search(r"Select (.*)", page.query)[1].split(">")
    for name in above:
        item = page.one("MenuItem", name.strip())
        page.act({"do": "hover_element", "ref": item.ref})
        time.sleep(0.5)
        page.look()
    page.act(page.click(page.one("MenuItem", last.strip())))


@task("click-widget")
def click_widget(page):
    kinds = {"button": "Button", "text": "Edit", "textarea": "Edit", "radio": "RadioButton", "checkbox": "CheckBox"}
    wanted = page.quoted()
    found = page.all(kinds[wanted])
    if wanted in ("text", "textarea"):
        found = [it for it in found if (it.h > 23) == (wanted == "textarea")]
    page.act(page.click(found[0]))


@task("navigate-tree")
def navigate_tree(page):
    wanted = page.quoted()
    opened = set()
    for _ in range(12):
        found = page.all(name=wanted)
        if found:
            return page.act(page.click(found[-1]))
        closed = [it for it in page.all(("Button", "Text", "TreeItem")) if it.name and it.name not in opened and it.y > 52]
        if not closed:
            break
        opened.add(closed[0].name)
        page.act(page.click(closed[0]))
        time.sleep(0.3)
        page.look()
    raise Failed(f"{wanted} is nowhere:\n{page.text}")


# ── boxes and lists ──────────────────────────────────────────────────────────────────────────────────

@task("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
def click_checkboxes(page):
    told = re.search(r"Select (.*) and click Submit", page.query)[1]
    names = [] if told == "nothing" else told.split(", ")
    page.act(*[page.click(page.one("CheckBox", name, showing=False)) for name in names], submit_any(page))


def submit_any(page):
    """Also one that has to be scrolled to."""
    return page.click(page.one("Button", re.compile("^Submit$"), showing=False))


@task("click-option")
def click_option(page):
    name = re.search(r"Select (.*) and click Submit", page.query)[1]
    page.act(page.click(page.one("RadioButton", name)), submit(page))


@task("choose-list")
def choose_list(page):
    name = re.search(r"Select (.*) from the list", page.query)[1]
    page.act({"do": "select_option", "ref": page.one("ComboBox").ref, "option_name": name}, submit(page))


@task("click-scroll-list")
def click_scroll_list(page):
    names = re.search(r"Select (.*) from the scroll list", page.query)[1].split(", ")
    page.act(*[page.click(page.one("ListItem", name, showing=False)) for name in names], submit(page))


@task("form-sequence-3")
def form_sequence_3(page):
    wanted = re.search(r"Choose (.*) from the dropdown", page.query)[1]
    opener = next(it for it in page.all(("Button", "Text", "ComboBox")) if it.y < 95)
    page.act(page.click(opener))
    time.sleep(0.2)
    page.look()
    option = page.all(("ListItem", "Button"), wanted, showing=False)[-1]
    button = page.one("Button", page.quoted())
    page.act(page.click(option), page.click(button))


@task("number-checkboxes")
def number_checkboxes(page):
    pattern = DIGITS[int(page.quoted())].split()
    boxes = page.all("CheckBox")
    rows = sorted({it.y for it in boxes})
    columns = sorted({it.x for it in boxes})
    wanted = [it for it in boxes if pattern[rows.index(it.y)][columns.index(it.x)] == "#"]
    page.act(*[page.click(it) for it in wanted], submit(page))


# Seven rows of four boxes for each digit, as the task's own pictures have them.
DIGITS = [
    ".##. #..# #..# #..# #..# #..# .##.",
    "..#. .##. ..#. ..#. ..#. ..#. ..#.",
    ".##. #..# #..# ..#. .#.. #... ####",
    ".##. #..# ...# .##. ...# #..# .##.",
    "#... #.#. #.#. #### ..#. ..#. ..#.",
    "#### #... #... ###. ...# #..# .##.",
    ".##. #..# #... ###. #..# #..# .##.",
    "#### #..# ...# ..#. ..#. .#.. .#..",
    ".##. #..# #..# .##. #..# #..# .##.",
    ".##. #..# #..# .### ...# #..# .##.",
]


# ── fields ───────────────────────────────────────────────────────────────────────────────────────────

@task("enter-text", "enter-text-dynamic")
def enter_text(page):
    page.act(page.fill(page.one("Edit"), page.quoted()), submit(page))


@task("enter-text-2")
def enter_text_2(page):
    text = page.quoted()
    text = text.upper() if "upper case" in page.query else text.lower()
    page.act(page.fill(page.one("Edit"), text), submit(page))


@task("enter-password")
def enter_password(page):
    page.act(*[page.fill(it, page.quoted()) for it in page.all("Edit")], submit(page))


@task("login-user")
def login_user(page):
    values = [page.quoted(0), page.quoted(1)]
    page.act(*[page.fill(*pair) for pair in zip(page.all("Edit"), values)], submit(page))


@task("login-user-popup")
def login_user_popup(page):
    values = [page.quoted(0), page.quoted(1)]
    for _ in range(6):
        if popup := page.all("Button", "Cancel"):
            page.act(page.click(popup[0]))
        else:
            try:
                page.act(*[page.fill(*pair) for pair in zip(page.all("Edit"), values)], submit(page))
            except Failed:
                # The popup came in between.
                pass
        page.look()
        if not page.all("Edit"):
            return


@task("focus-text")
def focus_text(page):
    page.act(page.click(page.one("Edit")))


@task("focus-text-2")
def focus_text_2(page):
    page.act(page.click(page.all("Edit")[place_in(page.query)]))


@task("enter-date")
def enter_date(page):
    month, day, year = re.search(r"(\d+)/(\d+)/(\d+)", page.query).groups()
    page.act(page.fill(page.one("Edit"), f"{year}-{month}-{day}"), submit(page))


@task("enter-time")
def enter_time(page):
    hour, minute, half = re.search(r"(\d+):(\d+)\s*([AP]M)", page.query).groups()
    hour = int(hour) % 12 + (12 if half == "PM" else 0)
    page.act(page.fill(page.one("Edit"), f"{hour:02}:{minute}"), submit(page))


@task("copy-paste")
def copy_paste(page):
    fields = page.all("Edit")
    source = max(fields, key=lambda it: len(it.value))
    target = next(it for it in fields if it is not source)
    page.act(page.fill(target, source.value), submit(page))


@task("copy-paste-2")
def copy_paste_2(page):
    fields = page.all("Edit")
    target = next(it for it in fields if not it.value)
    source = [it for it in fields if it is not target][place_in(page.query)]
    page.act(page.fill(target, source.value), submit(page))


@task("find-word")
def find_word(page):
    target = page.one("Edit")
    text = " ".join(it.name for it in page.all("Text") if it.y < target.y)
    word = re.findall(r"[A-Za-z0-9]+", text)[int(re.search(r"(\d+)\w\w word", page.query)[1]) - 1]
    page.act(page.fill(target, word), submit(page))


@task("scroll-text")
def scroll_text(page):
    fields = page.all("Edit")
    source = max(fields, key=lambda it: len(it.value))
    target = next(it for it in fields if it is not source)
    page.act(page.fill(target, re.findall(r"[A-Za-z0-9]+", source.value)[-1]), submit(page))


@task("scroll-text-2")
def scroll_text_2(page):
    down = "bottom" in page.query
    page.act(page.click(page.one("Edit")), {"do": "press_key", "keys": "ctrl+end" if down else "ctrl+home"})
    field = page.one("Edit")
    x, y = field.middle
    page.act({"do": "scroll", "x": x, "y": y, "clicks": -30 if down else 30}, submit(page))


@task("text-transform")
def text_transform(page):
    target = page.one("Edit")
    page.act(page.fill(target, "".join(it.name for it in page.all("Text") if it.y < target.y + 5).replace(" ", "")), submit(page))


@task("read-table")
def read_table(page):
    key = re.search(r"value of (.*) into", page.query)[1]
    page.act(page.fill(page.one("Edit"), table(page)[key]), submit(page))


def table(page):
    """The two columns of a small table, read line by line."""
    field = page.one("Edit")
    cells = [it for it in page.all(("Text", "DataItem", "HeaderItem")) if it.y < field.y - 5 and it.name]
    found = {}
    for key in cells:
        beside = [it for it in cells if abs(it.y - key.y) < 6 and it.x > key.x and it.name != key.name]
        if beside:
            found[key.name] = min(beside, key=lambda it: it.x).name
    return found


@task("read-table-2")
def read_table_2(page):
    values = table(page)
    steps = []
    for field in page.all("Edit"):
        label = next(it for it in page.all("Text") if abs(it.middle[1] - field.middle[1]) < 12 and it.x < field.x)
        steps.append(page.fill(field, values[label.name.rstrip(": ")]))
    page.act(*steps, submit(page))


@task("simple-arithmetic")
def simple_arithmetic(page):
    one, sign, other = re.search(r"(\d+) ([-+x]) (\d+) =", page.text).groups()
    result = {"+": int(one) + int(other), "-": int(one) - int(other), "x": int(one) * int(other)}[sign]
    page.act(page.fill(page.one("Edit"), str(result)), submit(page))


@task("simple-algebra")
def simple_algebra(page):
    one, sign, other, result = re.search(r'"(x|\d+) ([-+]) (x|\d+) = (-?\d+)', page.text).groups()
    result = int(result)
    if sign == "+":
        x = result - int(other if one == "x" else one)
    else:
        x = result + int(other) if one == "x" else int(one) - result
    page.act(page.fill(page.one("Edit"), str(x)), submit(page))


@task("guess-number")
def guess_number(page):
    low, high = 0, 9
    while True:
        guess = (low + high) // 2
        page.act(page.fill(page.one(FIELDS), str(guess)), submit(page))
        page.look()
        if told := re.search(r"The number is lower than (\d+)", page.text):
            high = int(told[1]) - 1
        elif told := re.search(r"The number is higher than (\d+)", page.text):
            low = int(told[1]) + 1
        else:
            return


@task("generate-number")
def generate_number(page):
    query = page.query
    tests = {"greater": lambda n, limit: n > limit, "less": lambda n, limit: n < limit,
             "odd": lambda n, _: n % 2 == 1, "even": lambda n, _: n % 2 == 0}
    test = next(test for word, test in tests.items() if word in query)
    limit = int(re.search(r"\d+", query)[0]) if re.search(r"\d+", query) else None
    for _ in range(60):
        page.act(page.click(page.one("Button", "Generate")))
        page.look()
        number = next(it for it in page.all("Text") if re.fullmatch(r"\d+", it.name))
        if test(int(number.name), limit):
            return page.act(page.click(page.one("Button", "Submit")))


@task("odd-or-even")
def odd_or_even(page):
    steps = []
    for number in page.all("Text", re.compile(r"^-?\d+$")):
        word = "Even" if int(number.name) % 2 == 0 else "Odd"
        beside = [it for it in page.all("Button", word) if abs(it.middle[1] - number.middle[1]) < 14]
        steps.append(page.click(beside[0]))
    page.act(*steps, submit(page))


@task("use-autocomplete", "use-autocomplete-nodelay")
def use_autocomplete(page):
    start = page.quoted()
    end = page.quoted(1) if page.query.count('"') > 2 else ""
    field = page.one(FIELDS)
    page.act(page.click(field), {"do": "type_text", "text": start})
    for _ in range(12):
        page.look()
        options = [it for it in page.all(("MenuItem", "ListItem", "Button", "Text"), showing=False) if it.y > field.y + 10
                   and it.name.startswith(start) and it.name.endswith(end)]
        if options:
            break
        time.sleep(0.2)
    page.act(page.click(options[0]))
    page.look()
    page.act(submit(page))


@task("use-spinner")
def use_spinner(page):
    page.act(page.fill(page.one(FIELDS), re.search(r"Select (-?\d+)", page.query)[1]), submit(page))


@task("form-sequence-2")
def form_sequence_2(page):
    radio, box = (PLACES[it] for it in re.findall(r"\b(\d\w\w)\b", page.query.replace(f'"{page.quoted()}"', "")))
    page.act(page.click(page.all("RadioButton")[radio]), page.fill(page.all("Edit")[box], page.quoted()), submit(page))


@task("terminal")
def terminal(page):
    wanted = re.search(r"extension (\.\w+)", page.query)
    run = lambda command: page.act({"do": "click_at", "x": 70, "y": 150}, {"do": "type_text", "text": command + "\n"})
    run("ls")
    page.look()
    shown = " ".join(it.name for it in page.all(("Text", "Button"), showing=False))
    files = shown.rsplit("user$ ls", 1)[1].split("user$")[0].split()
    name = next(file for file in files if (file.endswith(wanted[1]) if wanted else "." not in file))
    run(f"rm {name}")


@task("multi-layouts")
def multi_layouts(page):
    genre, name, year = re.search(r"Search for (.*) movies directed by (.*) from year (\d+)", page.query).groups()
    steps = []
    values = {("genre",): genre, ("direct",): name, ("year", "date"): year}
    for field in page.all(FIELDS):
        label = (field.name + " " + near_label(page, field)).lower()
        kind = next(kind for kind in values if any(word in label for word in kind))
        if field.role == "ComboBox":
            options = [it.name for it in page.elements if it.role == "ListItem" and it.name.lower() == values[kind].lower()]
            steps.append({"do": "select_option", "ref": field.ref, "option_name": options[0]})
        else:
            steps.append(page.fill(field, values[kind]))
    page.act(*steps, page.click(page.all("Button")[-1]))


def near_label(page, field):
    """The text before it or above it."""
    texts = [it for it in page.all("Text") if it.y <= field.middle[1] and it.y > field.y - 40]
    return max(texts, key=lambda it: (it.y, it.x)).name if texts else ""


# ── sliders and dragging ─────────────────────────────────────────────────────────────────────────────

def handles(page):
    """The knobs of sliders: small, clickable, without a name."""
    return [it for it in page.all(("Slider", "Button", "Hyperlink")) if not it.name and it.w <= 30 and it.h <= 30]


def shown_numbers(page):
    return [it for it in page.all("Text", re.compile(r"^-?\d+$"))]


def set_slider(page, index, wanted):
    """By keys, as a person would who wants it exact."""
    for _ in range(4):
        now = int(shown_numbers(page)[index].name)
        if now == wanted:
            return
        key = "right" if wanted > now else "left"
        knob = handles(page)[index]
        page.act({"do": "key_into_element", "ref": knob.ref, "keys": key},
                 *[{"do": "press_key", "keys": key} for _ in range(min(abs(wanted - now), 45) - 1)])
        page.look()
    if int(shown_numbers(page)[index].name) != wanted:
        raise Failed("the slider does not move")


@task("use-slider")
def use_slider(page):
    set_slider(page, 0, int(re.search(r"Select (-?\d+)", page.query)[1]))
    page.act(submit(page))


@task("use-slider-2")
def use_slider_2(page):
    for index, wanted in enumerate(re.search(r"\[(.*)\]", page.query)[1].split(",")):
        set_slider(page, index, int(wanted))
    page.act(submit(page))


@task("form-sequence")
def form_sequence(page):
    query = page.query
    set_slider(page, 0, int(re.search(r"Select (-?\d+)", query)[1]))
    page.act(page.click(page.all("CheckBox")[place_in(query.split("slider")[1])]), submit(page))


@task("resize-textarea")
def resize_textarea(page):
    field = page.one("Edit")
    corner = field.x + field.w - 4, field.y + field.h - 4
    by = 12 if "larger" in page.query else -12
    there = (corner[0] + by, corner[1]) if "width" in page.query else (corner[0], corner[1] + by)
    page.act(page.drag(corner, there))
    page.look()
    page.act(submit(page))


def drop_on(page, item, target, after):
    """Onto the far half of the target, so that a sorted list makes room there."""
    x, y = target.middle
    page.act(page.drag(item.middle, (x + after[0], y + after[1])))


@task("drag-items")
def drag_items(page):
    name, where = re.search(r"Drag (.+?) ((?:to|up|down|left|right)\b.*)", page.query).groups()
    items = [it for it in page.all(("Text", "ListItem", "Button")) if it.name]
    at = next(index for index, it in enumerate(items) if it.name == name)
    to = next((PLACES[place] for place in PLACES if place in where), None)
    if to is None:
        to = {"to the top": 0, "to the bottom": len(items) - 1, "down by": at + 1, "up by": at - 1}[next(
            word for word in ("to the top", "to the bottom", "down by", "up by") if word in where)]
    drop_on(page, items[at], items[to], (0, 6 if to > at else -6))


@task("drag-items-grid")
def drag_items_grid(page):
    name, where = re.search(r"Drag (.+?) ((?:to|up|down|left|right)\b.*)", page.query).groups()
    items = [it for it in page.all(("Text", "ListItem", "Button")) if it.name]
    at = next(index for index, it in enumerate(items) if it.name == name)
    corners = {"to the top left": 0, "to the top center": 1, "to the top right": 2, "to the center left": 3,
               "to the center right": 5, "to the bottom left": 6, "to the bottom center": 7, "to the bottom right": 8,
               "to the center": 4, "up by": at - 3, "down by": at + 3, "left by": at - 1, "right by": at + 1}
    to = corners[next(word for word in corners if word in where)]
    drop_on(page, items[at], items[to], (8 if to > at else -8, 0))


@task("drag-sort-numbers")
def drag_sort_numbers(page):
    for place in range(4):
        items = [it for it in page.all(("Text", "ListItem", "Button"), re.compile(r"^-?\d+$"))]
        least = min(items[place:], key=lambda it: int(it.name))
        if items[place].name != least.name:
            drop_on(page, least, items[place], (0, -6))
            time.sleep(0.1)
            page.look()
    page.act(submit(page))


# ── dates ────────────────────────────────────────────────────────────────────────────────────────────

def pick_date(page, month, day):
    """The calendar that a page shows: back and forth by its buttons, then the day."""
    months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
              "November", "December"]
    for _ in range(24):
        page.look()
        told = next((it.name for it in page.all() if re.match(rf"({'|'.join(months)})\b", it.name)), None)
        if told is None:
            time.sleep(0.1)
            continue
        now = months.index(told.split()[0]) + 1
        if now == month:
            break
        page.act(page.click(page.one(("Hyperlink", "Button"), "Prev" if now > month else "Next")))
    page.act(page.click(page.one(("Hyperlink", "Button"), str(day))))


@task("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def choose_date(page):
    month, day, _ = re.search(r"(\d+)/(\d+)/(\d+)", page.query).groups()
    page.act(page.click(page.one("Edit")))
    time.sleep(0.3)
    pick_date(page, int(month), int(day))
    time.sleep(0.3)
    page.look()
    page.act(submit(page))


@task("book-flight-nodelay", "book-flight")
def book_flight(page):
    found = re.search(r"Book the (\w+) one-way flight from: (.*?) to: (.*?) on (\d+)/(\d+)/(\d+)", page.query)
    cheapest, (origin, target), (month, day) = found[1] == "cheapest", found.group(2, 3), (int(found[4]), int(found[5]))
    for index, city in enumerate((origin, target)):
        field = page.all(FIELDS)[index]
        page.act(page.click(field), {"do": "type_text", "text": city})
        for _ in range(12):
            time.sleep(0.2)
            page.look()
            options = [it for it in page.all(("MenuItem", "ListItem", "Button", "Text"), showing=False) if city in it.name and it.y > field.y + 10]
            if options:
                break
        page.act(page.click(options[0]))
        page.look()
    page.act(page.click(page.all(FIELDS)[2]))
    time.sleep(0.3)
    pick_date(page, month, day)
    time.sleep(0.3)
    page.look()
    page.act(page.click(page.one("Button", "Search")))
    time.sleep(0.3)
    page.look()
    if cheapest:
        offers = page.all("Button", re.compile(r"\$\d+"), showing=False)
        best = min(offers, key=lambda it: int(re.search(r"\$(\d+)", it.name)[1]))
    else:
        best = shortest(page, page.all("Button", re.compile(r"\$\d+"), showing=False), min)
    page.act(page.click(best))


def duration(text):
    hours, minutes = re.search(r"(\d+)h", text), re.search(r"(\d+)m", text)
    return int(hours[1] if hours else 0) * 60 + int(minutes[1] if minutes else 0)


def shortest(page, buttons, choose):
    """By the duration that stands before each button."""
    times = []
    for button in buttons:
        at = page.elements.index(button)
        text = next(it.name for it in reversed(page.elements[:at]) if re.fullmatch(r"(\d+h)? ?(\d+m)?", it.name.strip()) and it.name.strip())
        times.append((duration(text), button))
    return choose(times, key=lambda pair: pair[0])[1]


@task("buy-ticket")
def buy_ticket(page):
    buttons = page.all("Button", re.compile(r"\$\d+"), showing=False)
    price = lambda it: int(re.search(r"\$(\d+)", it.name)[1])
    if "cost" in page.query:
        best = (min if "cheapest" in page.query else max)(buttons, key=price)
    else:
        best = shortest(page, buttons, min if "shortest" in page.query else max)
    page.act(page.click(best))


# ── small applications ───────────────────────────────────────────────────────────────────────────────

def words(element):
    """What the page calls it, and what it says."""
    return re.split(r"[^a-z]+", f"{element.about} {element.name}".lower())


def icon(page, word, near=None):
    """A clickable picture, by what the page calls it; the one in the line of an element, if there is one."""
    found = [it for it in page.all(("Button", "Hyperlink", "Image"), showing=False) if word in words(it)]
    if near is not None:
        found = [it for it in found if abs(it.middle[1] - near.middle[1]) < 25]
    if not found:
        raise Failed(f"no {word} in\n{page.text[:3000]}")
    return found[0]


def email(page, query):
    name = re.search(r"email by ([\w-]+)", query)
    page.act(page.click(page.one(name=re.compile(rf"^{name[1]}\b"), showing=False)))
    time.sleep(0.1)
    page.look()


@task("email-inbox", "email-inbox-noscroll", "email-inbox-delete", "email-inbox-forward", "email-inbox-important",
      "email-inbox-reply", "email-inbox-star-reply")
def email_inbox(page):
    query = page.query
    email(page, query)
    if "trash" in query:
        return page.act(page.click(icon(page, "trash")))
    if "star" in query:
        return page.act(page.click(icon(page, "star")))
    if "reply" in query:
        text = re.findall(r'"([^"]*)"', query)[0]
        page.act(page.click(icon(page, "reply")))
        page.look()
        page.act(page.fill(page.all("Edit")[-1], text), page.click(icon(page, "send")))
    else:
        person = re.search(r"forward that email to ([\w-]+)", query)[1]
        page.act(page.click(icon(page, "forward")))
        page.look()
        page.act(page.fill(page.one("Edit"), person), page.click(icon(page, "send")))


def posts_by(page, user):
    """Also those that are scrolled away; the task itself names the user too."""
    found = page.all("Text", user, showing=False, below=-100000)
    return [it for it in found if not it.name.startswith(("Click the", "For the user"))]


@task("social-media-all", "social-media-some")
def social_media(page):
    query = page.query
    user = re.search(r"(@\w+)", query)[1]
    action = page.quoted().lower()
    by_user = re.compile(rf"{user}\b")
    posts = posts_by(page, by_user)
    amount = re.search(r"button on (\d+) post", query)
    count = int(amount[1]) if amount else (len(posts) if "all posts" in query else 1)
    for index in range(count):
        post = posts_by(page, by_user)[index]
        after = page.elements[page.elements.index(post):]
        page.act(page.click(next(it for it in after if action in words(it))))
        page.look()
    page.act(submit_any(page))


@task("search-engine")
def search_engine(page):
    query = page.query
    number = place_in(query)
    page.act(page.fill(page.one("Edit"), page.quoted()), page.click(page.one("Button", "Search")))
    page.look()
    if number >= 3:
        page.act(page.click(page.one(("Hyperlink", "Button"), str(number // 3 + 1))))
        time.sleep(0.1)
        page.look()
    results = [it for it in page.all(("Hyperlink", "Button")) if not re.fullmatch(r"\d|<|>|Search", it.name)]
    page.act(page.click(results[number % 3]))


@task("phone-book")
def phone_book(page):
    person, what = re.search(r"Find ([\w-]+) in the contact book and click on their (\w+)", page.query).groups()
    for _ in range(12):
        if page.all(name=re.compile(rf"^{person}\b")):
            break
        page.act(page.click(page.one(("Hyperlink", "Button"), ">")))
        page.look()
    pattern = {"phone": r"^[\d()-]+ ?[\d-]+$", "email": r"@", "address": r"^\d+ .*[A-Za-z]"}[what]
    page.act(page.click(page.one(("Hyperlink", "Button", "Text"), re.compile(pattern))))


@task("sign-agreement")
def sign_agreement(page):
    query = page.query
    if "Click the cancel" in query:
        return page.act(page.click(page.one("Button", "Cancel", showing=False)))
    area = max(page.all(("Edit", "Text", "Group")), key=lambda it: it.h)
    x, y = area.middle
    page.act({"do": "scroll", "x": x, "y": min(y, 110), "clicks": -40})
    page.look()
    field = [it for it in page.all("Edit", showing=False) if "disabled" not in it.flags and it.h < 35][-1]
    page.act(page.fill(field, page.quoted()), page.click(page.one("Button", page.quoted(1), showing=False)))


@task("find-greatest")
def find_greatest(page):
    cards = [it for it in page.all(("Button",)) if it.name != "Submit"]
    numbers = []
    for index in range(len(cards)):
        page.look()
        card = sorted([it for it in page.all(("Button",)) if it.name != "Submit"], key=lambda it: it.x)[index]
        page.act(page.click(card))
        page.look()
        shown = sorted([it for it in page.all(("Button",)) if it.name != "Submit"], key=lambda it: it.x)[index]
        text = shown.name or next(it.name for it in page.all("Text") if abs(it.x - shown.x) < 30)
        numbers.append(int(re.search(r"-?\d+", text)[0]))
    best = numbers.index(max(numbers))
    page.look()
    card = sorted([it for it in page.all(("Button",)) if it.name != "Submit"], key=lambda it: it.x)[best]
    page.act(page.click(card), submit(page))


@task("order-food")
def order_food(page):
    """A name, the pictures of what it is made of below it, and a plus beside it."""
    query = page.query
    plus_after = lambda it: next(add for add in page.elements[page.elements.index(it):] if add.name == "+")
    if "one of each item" in query:
        names = [name.strip() for name in query.split(": ", 1)[1].split(",")]
        chosen = [plus_after(page.one(name=name, showing=False)) for name in names]
    else:
        count, kind = re.search(r"Order (\d+) items that are ([\w-]+)", query).groups()
        chosen = [plus_after(page.one("Image", kind, showing=False))] * int(count)
    page.act(*[page.click(it) for it in chosen], page.click(page.one("Button", "Order!", showing=False)))
