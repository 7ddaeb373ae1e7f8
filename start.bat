@echo off
rem Builds os-screen-observer and starts it, after making sure that a Rust toolchain and a linker are there.
rem Standard output belongs to the server, which speaks MCP on it: everything this script says goes to stderr.
setlocal DisableDelayedExpansion

set "PROJECT=%~dp0"
set "ASSUME_YES=no"
if "%~1"=="--help" goto help
if "%~1"=="-h" goto help

rem The arguments stay exactly as they were typed; only a leading --yes is ours.
set ARGUMENTS=%*
if not "%~1"=="--yes" goto arguments_are_read
set "ASSUME_YES=yes"
set ARGUMENTS=%ARGUMENTS:*--yes=%
:arguments_are_read

rem A desktop application starts us without the PATH of a shell that was opened after the installation.
if not defined CARGO_HOME set "CARGO_HOME=%USERPROFILE%\.cargo"
set "PATH=%CARGO_HOME%\bin;%PATH%"

call :at_terminal
call :ensure_rust || exit /b 1
call :ensure_linker || exit /b 1
call :build || exit /b 1
if defined ARGUMENTS goto start
if not "%AT_TERMINAL%"=="yes" goto start
call :how_to_connect 1>&2
exit /b 0

:start
"%SERVER%" %ARGUMENTS%
exit /b %ERRORLEVEL%

:help
echo Usage: start.bat [--yes] [ARGUMENT...]
echo.
echo Builds os-screen-observer and starts it with the arguments. What the build needs and
echo is missing (a Rust toolchain, the C++ build tools) is named; at a terminal you are
echo asked before each installation.
echo.
echo   --yes     install what is missing without asking; has to come first
echo   --help    show this text
echo.
echo Without arguments at a terminal it builds, and shows how to connect a client.
echo.
echo   start.bat --mode mcp --help         the server's own options
echo   start.bat --mode mcp                serve MCP on stdin and stdout
echo   start.bat --mode mcp --mock         the same with a mock desktop
echo   start.bat doctor                    what works on this machine, and what does not
echo.
echo A browser of its own (--browser) is started on Linux and macOS only. On Windows, open Chrome
echo with --remote-debugging-port=9222 and a --user-data-dir of its own, and use --attach 9222.
exit /b 0

rem ---- what the build needs --------------------------------------------------------------------------------

:at_terminal
rem Reading an answer from a client's pipe would swallow its first message, so nobody is asked there.
rem The timeout command refuses, without reading, when its input is not a keyboard.
set "AT_TERMINAL=no"
"%SystemRoot%\System32\timeout.exe" /t 0 >nul 2>&1 && set "AT_TERMINAL=yes"
exit /b 0

:ensure_rust
where cargo >nul 2>&1 && exit /b 0
call :offer "a Rust toolchain" "winget install --id Rustlang.Rustup --exact --source winget --accept-package-agreements --accept-source-agreements" || exit /b 1
where cargo >nul 2>&1 && exit /b 0
echo start.bat: cargo is still not found; open a new terminal and run this script again. 1>&2
exit /b 1

:ensure_linker
rem With the GNU toolchain of Rust no Microsoft linker is needed.
rustc -vV 2>nul | findstr /c:"host:" | findstr /c:"-gnu" >nul && exit /b 0
call :have_build_tools && exit /b 0
call :offer "the C++ build tools of Visual Studio" "winget install --id Microsoft.VisualStudio.2022.BuildTools --exact --source winget --accept-package-agreements --accept-source-agreements --override '--quiet --wait --norestart --add Microsoft.VisualStudio.Workload.VCTools --includeRecommended'" || exit /b 1
call :have_build_tools && exit /b 0
echo start.bat: the C++ build tools are still not found; run this script again when their installation has ended. 1>&2
exit /b 1

:have_build_tools
where link.exe >nul 2>&1 && where cl.exe >nul 2>&1 && exit /b 0
set "VSWHERE=%ProgramFiles(x86)%\Microsoft Visual Studio\Installer\vswhere.exe"
if not exist "%VSWHERE%" exit /b 1
"%VSWHERE%" -products * -requires Microsoft.VisualStudio.Component.VC.Tools.x86.x64 -property installationPath 2>nul | findstr . >nul && exit /b 0
"%VSWHERE%" -products * -requires Microsoft.VisualStudio.Component.VC.Tools.ARM64 -property installationPath 2>nul | findstr . >nul
exit /b %ERRORLEVEL%

rem offer WHAT COMMAND: installs after a yes; where nobody can be asked, shows the command and ends.
rem Quotation marks cannot be passed inside an argument, so the command has apostrophes in their place.
:offer
set "COMMAND=%~2"
set COMMAND=%COMMAND:'="%
echo Missing: %~1. 1>&2
where winget >nul 2>&1 || goto no_winget
if "%ASSUME_YES%"=="yes" goto install
if not "%AT_TERMINAL%"=="yes" goto nobody_to_ask
echo Install it with this command? 1>&2
echo   %COMMAND% 1>&2
set "ANSWER="
set /p "ANSWER=[y/N] " 1>&2
if /i "%ANSWER%"=="y" goto install
if /i "%ANSWER%"=="yes" goto install
echo start.bat: nothing was installed. The command was: 1>&2
echo   %COMMAND% 1>&2
exit /b 1

:install
echo Running: %COMMAND% 1>&2
%COMMAND% 1>&2 <nul
if not errorlevel 1 exit /b 0
echo start.bat: the installation failed. 1>&2
exit /b 1

:nobody_to_ask
echo start.bat: install it with this command, or run "start.bat --yes": 1>&2
echo   %COMMAND% 1>&2
exit /b 1

:no_winget
echo start.bat: winget is not there to install it. See https://rustup.rs for what Rust needs on Windows. 1>&2
exit /b 1

rem ---- the build -------------------------------------------------------------------------------------------

:build
echo Building os-screen-observer (the first time takes a few minutes). 1>&2
set "TARGET=%PROJECT%target"
if defined CARGO_TARGET_DIR set "TARGET=%CARGO_TARGET_DIR%"
cargo build --profile quick --locked --manifest-path "%PROJECT%Cargo.toml" --target-dir "%TARGET%" 1>&2 <nul || exit /b 1
for %%F in ("%TARGET%\quick\os-screen-observer.exe") do set "SERVER=%%~fF"
if exist "%SERVER%" exit /b 0
echo start.bat: cargo reported success, but there is no "%SERVER%". 1>&2
exit /b 1

:how_to_connect
set "JSON_PATH=%SERVER:\=\\%"
echo.
echo Ready: %SERVER%
echo.
echo It speaks MCP on stdin and stdout, so a client has to start it. For Claude Desktop and
echo most others, paste this into the configuration, claude_desktop_config.json, and restart:
echo.
echo {
echo   "mcpServers": {
echo     "os-screen-observer": {
echo       "command": "%JSON_PATH%",
echo       "args": ["--mode", "mcp"]
echo     }
echo   }
echo }
echo.
echo For Claude Code:
echo.
echo   claude mcp add os-screen-observer -- "%SERVER%" --mode mcp
echo.
echo Add --mock to the arguments for a mock desktop that needs no permissions and touches
echo nothing. To look around from here:
echo.
echo   start.bat doctor                        what works on this machine
echo   start.bat call list_windows --mock      one tool call on the mock desktop
echo   start.bat --mode mcp --help             all options
exit /b 0
