$all = [System.Windows.Forms.SystemInformation]::VirtualScreen
$picture = New-Object System.Drawing.Bitmap $all.Width, $all.Height
$canvas = [System.Drawing.Graphics]::FromImage($picture)
$canvas.CopyFromScreen($all.X, $all.Y, 0, 0, $all.Size)
$bytes = New-Object System.IO.MemoryStream
$picture.Save($bytes, [System.Drawing.Imaging.ImageFormat]::Png)
$answer = @{ x = $all.X; y = $all.Y; width = $all.Width; height = $all.Height; png = [Convert]::ToBase64String($bytes.ToArray()) }
ConvertTo-Json -Compress -InputObject $answer
