"""Asks for URLs with httpx over HTTP/2, all at once on one connection; exits with 0 if every response came whole.

    python3 client.py [--method METHOD] [--body FILE] [--ca FILE] URL...
"""

import argparse
import asyncio
import sys

import httpx


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--method", default="GET")
    parser.add_argument("--body")
    parser.add_argument("--ca")
    parser.add_argument("urls", nargs="+")
    args = parser.parse_args()
    content = None
    if args.body:
        with open(args.body, "rb") as file:
            content = file.read()
    limits = httpx.Limits(max_connections=1)
    client = httpx.AsyncClient(http1=False, http2=True, verify=args.ca or True, limits=limits, timeout=60)
    async with client:
        results = await asyncio.gather(
            *(client.request(args.method, url, content=content) for url in args.urls), return_exceptions=True
        )
    failed = [r for r in results if isinstance(r, BaseException)]
    for error in failed:
        print(repr(error), file=sys.stderr)
    return 1 if failed else 0


sys.exit(asyncio.run(main()))
