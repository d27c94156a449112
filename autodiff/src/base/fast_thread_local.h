// SPDX-License-Identifier: Apache-2.0
//
// A few words of each thread that every operation asks for, at a fixed distance from the thread's
// pointer, without a call of __tls_get_addr. A library that is loaded late finds little room for
// them; so pointers and counts only, without constructor or destructor.
#pragma once

#define TESSERA_FAST_THREAD_LOCAL [[gnu::tls_model("initial-exec")]] constinit thread_local
