// SPDX-License-Identifier: Apache-2.0

/** What requests are answered with, now or later. */
package io.isolde.answer;
