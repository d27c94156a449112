// SPDX-License-Identifier: Apache-2.0
//
// A few words of each thread that every operation asks for, at a fixed distance from the thread's
// pointer: no call of
// __tls_get_addr, which takes 1 ns each. A library that is loaded late finds room for some hundred
// bytes of them; so pointers and counts only, without constructor or destructor.
#pragma once

#define TESSERA_FAST_THREAD_LOCAL [[gnu::tls_model("initial-exec")]] constinit thread_local
