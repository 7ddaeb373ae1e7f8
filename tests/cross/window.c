/* A small window for the test under Wine: a field, a button and a red square. Everything that is done to it is written
 * to the file that its argument names, one line each, so that the test reads it there and not from the program that
 * it tests. `window.exe LOG TITLE X Y` */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static FILE *record;
static HWND field, button;

static void tell(const wchar_t *what, const wchar_t *detail) {
    char bytes[4096];
    int length = WideCharToMultiByte(CP_UTF8, 0, detail, -1, bytes, sizeof bytes, NULL, NULL);
    fprintf(record, "%ls %s\n", what, length > 0 ? bytes : "");
    fflush(record);
}

static void tell_number(const wchar_t *what, int one, int two) {
    wchar_t text[64];
    swprintf(text, 64, L"%d %d", one, two);
    tell(what, text);
}

static LRESULT CALLBACK handle(HWND window, UINT message, WPARAM first, LPARAM second) {
    wchar_t text[1024];
    PAINTSTRUCT paint;
    RECT square = {20, 120, 120, 220};
    switch (message) {
    case WM_COMMAND:
        if ((HWND)second == field && HIWORD(first) == EN_CHANGE) {
            GetWindowTextW(field, text, 1024);
            tell(L"text", text);
        } else if ((HWND)second == button && HIWORD(first) == BN_CLICKED) {
            tell(L"pressed", L"");
        }
        return 0;
    case WM_LBUTTONDOWN: tell_number(L"down", (short)LOWORD(second), (short)HIWORD(second)); return 0;
    case WM_LBUTTONUP: tell_number(L"up", (short)LOWORD(second), (short)HIWORD(second)); return 0;
    case WM_RBUTTONUP: tell_number(L"right", (short)LOWORD(second), (short)HIWORD(second)); return 0;
    case WM_MOUSEWHEEL: tell_number(L"wheel", (short)HIWORD(first) / WHEEL_DELTA, 0); return 0;
    case WM_ACTIVATE:
        if (LOWORD(first) != WA_INACTIVE) {
            tell(L"active", L"");
            SetFocus(field);
        }
        return 0;
    case WM_PAINT: {
        HDC context = BeginPaint(window, &paint);
        HBRUSH red = CreateSolidBrush(RGB(220, 20, 60));
        FillRect(context, &square, red);
        DeleteObject(red);
        EndPaint(window, &paint);
        return 0;
    }
    case WM_CLOSE: tell(L"closed", L""); DestroyWindow(window); return 0;
    case WM_DESTROY: PostQuitMessage(0); return 0;
    }
    return DefWindowProcW(window, message, first, second);
}

int WINAPI wWinMain(HINSTANCE instance, HINSTANCE before, PWSTR line, int show) {
    (void)before, (void)line;
    int count = 0;
    wchar_t **words = CommandLineToArgvW(GetCommandLineW(), &count);
    if (count < 5 || !(record = _wfopen(words[1], L"ab"))) return 1;
    WNDCLASSW class = {0};
    class.lpfnWndProc = handle;
    class.hInstance = instance;
    class.lpszClassName = L"CrossWindow";
    class.hbrBackground = (HBRUSH)(COLOR_BTNFACE + 1);
    class.hCursor = LoadCursor(NULL, IDC_ARROW);
    RegisterClassW(&class);
    HWND window = CreateWindowW(L"CrossWindow", words[2], WS_OVERLAPPEDWINDOW, _wtoi(words[3]), _wtoi(words[4]), 420, 300,
        NULL, NULL, instance, NULL);
    field = CreateWindowW(L"EDIT", L"", WS_CHILD | WS_VISIBLE | WS_BORDER | WS_TABSTOP | ES_AUTOHSCROLL, 20, 20, 240, 26,
        window, NULL, instance, NULL);
    button = CreateWindowW(L"BUTTON", L"Press", WS_CHILD | WS_VISIBLE | WS_TABSTOP, 20, 60, 90, 30, window, NULL,
        instance, NULL);
    ShowWindow(window, show);
    tell(L"ready", L"");
    MSG message;
    while (GetMessageW(&message, NULL, 0, 0) > 0) {
        TranslateMessage(&message);
        DispatchMessageW(&message);
    }
    return 0;
}
