$window = New-Object IntPtr $handle
if (-not [Oso]::IsWindow($window)) { ConvertTo-Json -Compress -InputObject @{ gone = $true }; exit 0 }
if ([Oso]::IsIconic($window)) { ConvertTo-Json -Compress -InputObject @{ minimized = $true }; exit 0 }
$whole = [Oso]::Whole($window)
$seen = [Oso]::Seen($window)
$picture = New-Object System.Drawing.Bitmap ([Math]::Max(1, $whole.Right - $whole.Left)), ([Math]::Max(1, $whole.Bottom - $whole.Top))
$graphics = [System.Drawing.Graphics]::FromImage($picture)
$canvas = $graphics.GetHdc()
# 2: also what is drawn by the graphics card.
$drawn = [Oso]::PrintWindow($window, $canvas, 2)
$graphics.ReleaseHdc($canvas)
if (-not $drawn) { ConvertTo-Json -Compress -InputObject @{ refused = $true }; exit 0 }
$part = New-Object System.Drawing.Rectangle ($seen.Left - $whole.Left), ($seen.Top - $whole.Top), ($seen.Right - $seen.Left), ($seen.Bottom - $seen.Top)
$part.Intersect((New-Object System.Drawing.Rectangle 0, 0, $picture.Width, $picture.Height))
$cut = $picture.Clone($part, $picture.PixelFormat)
$bytes = New-Object System.IO.MemoryStream
$cut.Save($bytes, [System.Drawing.Imaging.ImageFormat]::Png)
$answer = @{ x = $whole.Left + $part.X; y = $whole.Top + $part.Y; width = $part.Width; height = $part.Height; png = [Convert]::ToBase64String($bytes.ToArray()) }
ConvertTo-Json -Compress -InputObject $answer
