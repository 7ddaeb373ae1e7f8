/* Wine 8 has no bcryptprimitives.dll, and every Rust program asks it for random bytes. This one hands the question on to
 * advapi32, which has always answered it. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length) {
    return SystemFunction036(bytes, (ULONG)length);
}
