# What every script of this folder starts with. Nothing from outside is ever put into them but a window's number.
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
[Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false
Add-Type -ReferencedAssemblies System.Drawing -TypeDefinition @'
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

public static class Oso {
    public delegate bool Each(IntPtr window, IntPtr more);
    [StructLayout(LayoutKind.Sequential)] public struct Box { public int Left, Top, Right, Bottom; }
    [StructLayout(LayoutKind.Sequential)] public struct Spot { public int X, Y; }
    [DllImport("user32.dll")] static extern IntPtr SetThreadDpiAwarenessContext(IntPtr context);
    [DllImport("user32.dll")] static extern bool SetProcessDPIAware();
    [DllImport("user32.dll")] static extern bool EnumWindows(Each each, IntPtr more);
    [DllImport("user32.dll")] public static extern bool IsWindow(IntPtr window);
    [DllImport("user32.dll")] public static extern bool IsWindowVisible(IntPtr window);
    [DllImport("user32.dll")] public static extern bool IsIconic(IntPtr window);
    [DllImport("user32.dll")] public static extern IntPtr GetForegroundWindow();
    [DllImport("user32.dll")] public static extern bool PrintWindow(IntPtr window, IntPtr canvas, uint how);
    [DllImport("user32.dll")] static extern bool GetWindowRect(IntPtr window, out Box box);
    [DllImport("user32.dll")] static extern int GetWindowLong(IntPtr window, int what);
    [DllImport("user32.dll", CharSet = CharSet.Unicode)] static extern int GetWindowText(IntPtr window, StringBuilder text, int most);
    [DllImport("user32.dll")] static extern uint GetWindowThreadProcessId(IntPtr window, out uint process);
    [DllImport("dwmapi.dll")] static extern int DwmGetWindowAttribute(IntPtr window, int what, out Box box, int size);
    [DllImport("dwmapi.dll")] static extern int DwmGetWindowAttribute(IntPtr window, int what, out int number, int size);

    [DllImport("user32.dll")] static extern IntPtr MonitorFromPoint(Spot at, uint otherwise);
    [DllImport("shcore.dll")] static extern int GetDpiForMonitor(IntPtr monitor, int what, out uint across, out uint down);

    // Real pixels on every monitor, whatever its scale; older versions of Windows know one scale only.
    public static void CountPixels() {
        try { if (SetThreadDpiAwarenessContext(new IntPtr(-4)) != IntPtr.Zero) { return; } }
        catch (EntryPointNotFoundException) { }
        SetProcessDPIAware();
    }
    // From the front to the back.
    public static List<IntPtr> Windows() {
        var all = new List<IntPtr>();
        EnumWindows((window, more) => { all.Add(window); return all.Count < 5000; }, IntPtr.Zero);
        return all;
    }
    public static string Title(IntPtr window) {
        var text = new StringBuilder(1024);
        GetWindowText(window, text, text.Capacity);
        return text.ToString();
    }
    public static uint Process(IntPtr window) {
        uint process;
        GetWindowThreadProcessId(window, out process);
        return process;
    }
    public static Box Whole(IntPtr window) {
        Box box;
        GetWindowRect(window, out box);
        return box;
    }
    // Without the invisible edges by which a person resizes it.
    public static Box Seen(IntPtr window) {
        Box box;
        if (DwmGetWindowAttribute(window, 9, out box, 16) != 0) { GetWindowRect(window, out box); }
        return box;
    }
    public static bool Cloaked(IntPtr window) {
        int cloaked;
        return DwmGetWindowAttribute(window, 14, out cloaked, 4) == 0 && cloaked != 0;
    }
    // Dots for an inch on the monitor at a place; 96 is a scale of one, zero is not known.
    public static uint Dots(int x, int y) {
        var at = new Spot();
        at.X = x;
        at.Y = y;
        try {
            uint across, down;
            return GetDpiForMonitor(MonitorFromPoint(at, 2), 0, out across, out down) == 0 ? across : 0;
        }
        catch (DllNotFoundException) { return 0; }
        catch (EntryPointNotFoundException) { return 0; }
    }
    public static bool Tool(IntPtr window) { return (GetWindowLong(window, -20) & 0x80) != 0; }
}
'@
[Oso]::CountPixels()
Add-Type -AssemblyName System.Drawing
Add-Type -AssemblyName System.Windows.Forms
