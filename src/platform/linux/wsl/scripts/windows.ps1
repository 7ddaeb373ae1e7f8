$front = [Oso]::GetForegroundWindow()
$names = @{}
$windows = New-Object System.Collections.Generic.List[object]
foreach ($window in [Oso]::Windows()) {
    if (-not [Oso]::IsWindowVisible($window)) { continue }
    $process = [Oso]::Process($window)
    if (-not $names.ContainsKey($process)) {
        $found = Get-Process -Id $process -ErrorAction SilentlyContinue
        $names[$process] = if ($found) { [string]$found.ProcessName } else { '' }
    }
    $box = [Oso]::Seen($window)
    $windows.Add(@{
        handle = $window.ToInt64(); title = [Oso]::Title($window); process = $names[$process]; pid = $process
        x = $box.Left; y = $box.Top; width = $box.Right - $box.Left; height = $box.Bottom - $box.Top
        focused = ($window -eq $front); minimized = [Oso]::IsIconic($window)
        cloaked = [Oso]::Cloaked($window); tool = [Oso]::Tool($window)
    })
}
$monitors = @([System.Windows.Forms.Screen]::AllScreens | ForEach-Object {
    @{
        x = $_.Bounds.X; y = $_.Bounds.Y; width = $_.Bounds.Width; height = $_.Bounds.Height; primary = $_.Primary
        dots = [Oso]::Dots($_.Bounds.X, $_.Bounds.Y)
    }
})
ConvertTo-Json -Compress -Depth 4 -InputObject @{ windows = $windows.ToArray(); monitors = $monitors }
